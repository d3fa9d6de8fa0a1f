// Turns copies and fills of memory into loads and stores.
#pragma once

namespace llvm {
class Function;
}

namespace metal::cpu {

// Each lane copies and fills in pieces of the size that most data have. Short copies between device
// and threadgroup memory stay as they are.
void expand_block_operations(llvm::Function& body);

// The copies that stay have at most so many bytes, a multiple of `kCopyGranule`.
constexpr unsigned kLongestSharedCopy = 64;
constexpr unsigned kCopyGranule = 4;

}  // namespace metal::cpu
