// Finds out how the threads of a row access memory. Only speed depends on the answers.
#pragma once

#include <cstdint>

namespace llvm {
class Module;
}  // namespace llvm

namespace metal::cpu {

// Whether neighbouring threads of a row may access places of device memory that are a cache line or
// more apart, as in a transposition.
bool jumps_along_rows(const llvm::Module& kernel);
// The dimension along which threads access neighbouring elements, while those of a row jump: 1 for
// threads below each other, 2 for those behind each other, 0 if there is none.
uint32_t column_dimension(const llvm::Module& kernel);
// Whether threadgroups below each other write neighbouring elements, and those beside each other do
// not, as in a transposition by tiles.
bool groups_write_columns(const llvm::Module& kernel);
// Whether neighbouring threads of a threadgroup may read elements of threadgroup memory that are
// not neighbours, as a tile's columns.
bool reads_tile_columns(const llvm::Module& kernel);
// The length of the rows in which the kernel arranges the threads of a row: the smallest power of
// two by which it divides their positions or indices, of those between kNarrowestGang and
// kSimdWidth. kSimdWidth if there is none.
uint32_t divided_row(const llvm::Module& kernel);

}  // namespace metal::cpu
