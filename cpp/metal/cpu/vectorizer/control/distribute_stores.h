// Makes a body for each of the pieces of memory that a thread writes.
#pragma once

#include <vector>

namespace llvm {
class Function;
}

namespace metal::cpu {

class Optimizer;

// A thread often has a few elements that are as far apart as its threadgroup has threads, so that
// neighbours access neighbouring elements. Gang after gang, memory would be accessed in short
// pieces, several at a time on one page, which processors do not follow. So the loop over a row's
// gangs is distributed: the first body stores the first element of all threads, and so on.
//
// This is only for threads that do not wait for each other: they may run in any order, so also in
// turns. A body's stores are in the order of the program, those of different bodies do not overlap,
// and no store changes what the thread reads. No element is read by two bodies, and they compute
// little more than once.
//
// Empty if the body is not of this kind.
std::vector<llvm::Function*> distribute_stores(llvm::Function& body, Optimizer& optimizer);

}  // namespace metal::cpu
