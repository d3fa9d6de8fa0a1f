// Finds out how the threads of a row access device memory.
#pragma once

namespace llvm {
class Module;
}  // namespace llvm

namespace metal::cpu {

// Whether neighbouring threads of a row may access places of device memory that are a cache line or
// more apart, as in a transposition. Only speed depends on the answer.
bool jumps_along_rows(const llvm::Module& kernel);

}  // namespace metal::cpu
