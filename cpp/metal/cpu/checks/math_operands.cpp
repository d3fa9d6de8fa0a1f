#include "metal/cpu/checks/math_operands.h"

#include <algorithm>

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/math_calls.h"

namespace metal::cpu {

MathCalls take_math_calls(llvm::Function& kernel) {
  MathCalls calls;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(kernel))) {
    if (!compiler::is_math_mark(instruction)) continue;
    auto& mark = *checked_cast<llvm::CallInst>(&instruction);
    llvm::Value* result = mark.getArgOperand(0);
    calls[result] = {compiler::marked_function(mark),
                     {mark.arg_begin() + 1, mark.arg_end()},
                     mark.getDebugLoc()};
    mark.replaceAllUsesWith(result);
    for (auto& [_, call] : calls)
      std::ranges::replace(call.operands, static_cast<llvm::Value*>(&mark), result);
    mark.eraseFromParent();
  }
  return calls;
}

}  // namespace metal::cpu
