// Builds a vector from elements of other vectors, as processors shuffle only two vectors at a time.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

namespace llvm {
class TargetTransformInfo;
}

namespace metal::cpu {

constexpr int64_t kBlockBytes = 16;   // every processor shuffles blocks of this size in any order
constexpr int64_t kWidestStride = 8;  // elements; larger strides are not read as one block

// The remainder, which is not negative.
constexpr int64_t floor_mod(int64_t a, int64_t b) { return ((a % b) + b) % b; }

struct BlockElement {
  llvm::Value* block;  // all of these vectors have one size
  int element;
};

// Some elements of the vector that follow each other. If the vector is of several joined ones, they
// are taken from one of these, if it has all of them.
llvm::Value* extract_subvector(llvm::IRBuilder<>& builder, llvm::Value* vector, unsigned first,
                               unsigned count);

// Takes at most as many elements as a block has.
llvm::Value* assemble(llvm::IRBuilder<>& builder, llvm::ArrayRef<BlockElement> elements);

// The columns of square matrices, which stand side by side in the rows. The number of rows is a
// power of two. `neighbours`: how many elements beside each other are one entry of the matrix.
llvm::SmallVector<llvm::Value*> transpose(llvm::IRBuilder<>& builder,
                                          llvm::ArrayRef<llvm::Value*> rows,
                                          unsigned neighbours = 1);

// How many lanes' blocks are transposed at once: those that fill a register, or a block's square if
// that is more. `size`: bytes of an element.
unsigned lanes_in_register(const llvm::TargetTransformInfo& costs, int64_t size, unsigned in_block,
                           unsigned width);

// How the elements that lanes access beside each other are moved: `lanes` lanes at once, and of
// each of them `blocks` blocks of `in_block` elements as one vector. All are powers of two; `lanes`
// is at least `blocks` * `in_block`.
struct BlockForm {
  unsigned in_block;
  unsigned blocks;
  unsigned lanes;
};

// Reads `blocks` * `in_block` elements for each lane, at `offset` bytes from the lane's pointer,
// and transposes them. The results are the lanes' first elements, their second ones, and so on.
llvm::SmallVector<llvm::Value*> load_columns(llvm::IRBuilder<>& builder, llvm::Type* element,
                                             const BlockForm& form,
                                             llvm::ArrayRef<llvm::Value*> pointers, int64_t offset,
                                             llvm::Align align);
// The reverse: the run of neighbouring elements that each lane writes. There are `blocks` *
// `in_block` columns with elements of `lanes` lanes.
llvm::SmallVector<llvm::Value*> runs_of_columns(llvm::IRBuilder<>& builder, const BlockForm& form,
                                                llvm::ArrayRef<llvm::Value*> columns);

// Starts of blocks that cover the elements of `size` bytes at `offsets`. With `phase`, the starts
// are multiples of the block size, counted from `phase` bytes before offset 0. Neighbouring
// accesses then share blocks.
llvm::SmallVector<int64_t> cover(llvm::ArrayRef<int64_t> offsets, int64_t size, int64_t block,
                                 std::optional<int64_t> phase);
// The starts with the phase, unless fewer blocks suffice without it.
llvm::SmallVector<int64_t> cover_with_fewest(llvm::ArrayRef<int64_t> offsets, int64_t size,
                                             int64_t block, int64_t phase);

}  // namespace metal::cpu
