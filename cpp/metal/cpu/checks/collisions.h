// Lanes of one gang that touch one place at once, which only the vectoriser can see.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace llvm {
class Function;
class Module;
class Value;
}  // namespace llvm

namespace metal::cpu {

struct BodyShapes;

// Behind a store of a number at a place: whether another lane of the gang has stored another number
// there since. A call, as LLVM would know the answer of a single thread.
llvm::Value* create_collision_test(llvm::IRBuilder<>& b, llvm::Value* place, llvm::Value* number);

// In the code of a thread that becomes the code of a gang: the tests read the memory, but for those
// of places that differ from lane to lane for certain.
void expand_collision_tests(llvm::Function& body, const BodyShapes& shapes);
// In code that runs single threads no test is true.
void drop_collision_tests(llvm::Module& module);

}  // namespace metal::cpu
