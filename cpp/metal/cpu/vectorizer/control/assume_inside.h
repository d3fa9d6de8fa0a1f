// Makes speculative bodies for gangs inside: none of their lanes is at an edge of the data.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace llvm {
class Function;
class Value;
}  // namespace llvm

namespace metal::cpu {

struct BodyShapes;
class Optimizer;

// Kernels compare indices with sizes: they clamp them, end a thread's run early, or skip elements.
// In most gangs such comparisons have the same result in all lanes, without which a thread's run is
// read element by element, and clamped indices by gathers. The speculative body has only one way
// through them; the gang bails out before it has effects if a lane would take another one. So the
// comparisons move to the start. Their operands are copied there without what LLVM knows behind
// the program's branches, so they have the same bits as the originals in all lanes, also in lanes
// that would not come to the original. A comparison with a size that is only known later, as behind
// another one, stays where it is; all lanes must come there, or none. Returns null if nothing is
// gained.
llvm::Function* clone_assuming_inside(llvm::Function& body, const BodyShapes& shapes,
                                      Optimizer& optimizer);

// The gang bails out here unless the condition is true in all lanes. It must not have had effects.
void bail_out_unless(llvm::IRBuilder<>& builder, llvm::Value* condition);

}  // namespace metal::cpu
