// Turns copies and fills of memory into loads and stores.
#pragma once

namespace llvm {
class Function;
}

namespace metal::cpu {

// Every lane copies and fills by itself, in pieces of the size that most data have. Short copies
// between memory that threads share stay as they are.
void expand_block_operations(llvm::Function& body);

// What stays, in bytes and as a multiple of `kCopyGranule`.
constexpr unsigned kLongestSharedCopy = 64;
constexpr unsigned kCopyGranule = 4;

}  // namespace metal::cpu
