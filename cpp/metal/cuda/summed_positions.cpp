#include "metal/cuda/summed_positions.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"
#include "metal/compiler/builtin_calls.h"
#include "metal/compiler/kernel_form.h"
#include "metal/cuda/kernel_interface.h"
#include "metal/driver.h"

namespace metal::cuda {
namespace {

using compiler::Builtin;
using llvm::Value;
using namespace llvm::PatternMatch;

bool is_builtin_in_x(const Value* value, Builtin builtin) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(value);
  const auto found = call ? compiler::as_builtin_call(*call) : std::nullopt;
  return found && found->builtin == builtin && found->component == 0;
}

uint32_t size_of(const Value* value) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value);
  if (number && number->getValue().ule(kMaxThreadsPerThreadgroup))
    return static_cast<uint32_t>(number->getZExtValue());
  return is_builtin_in_x(value, Builtin::ThreadsPerThreadgroup) ? KernelInterface::kAnySize : 0;
}

// The size with which an instruction sums up a position; 0 for other instructions. Powers of two
// shift.
uint32_t summed_with(llvm::Instruction& instruction) {
  Value *scaled, *thread, *group, *size;
  if (!match(&instruction, m_AddLike(m_Value(scaled), m_Value(thread)))) return 0;
  if (is_builtin_in_x(scaled, Builtin::ThreadPositionInThreadgroup)) std::swap(scaled, thread);
  if (!is_builtin_in_x(thread, Builtin::ThreadPositionInThreadgroup)) return 0;
  uint64_t bits = 0;
  if (match(scaled, m_Shl(m_Value(group), m_ConstantInt(bits))))
    return is_builtin_in_x(group, Builtin::ThreadgroupPositionInGrid) && bits <= 10 ? 1u << bits
                                                                                    : 0;
  if (!match(scaled, m_Mul(m_Value(group), m_Value(size)))) return 0;
  if (!is_builtin_in_x(group, Builtin::ThreadgroupPositionInGrid)) std::swap(group, size);
  return is_builtin_in_x(group, Builtin::ThreadgroupPositionInGrid) ? size_of(size) : 0;
}

}  // namespace

uint32_t find_summed_positions(llvm::Function& kernel, bool replace) {
  uint32_t found = 0;
  llvm::SmallVector<llvm::Instruction*> sums;
  for (llvm::Instruction& instruction : llvm::instructions(kernel)) {
    const uint32_t size = summed_with(instruction);
    if (!size || (found && size != found)) continue;
    found = size;
    sums.push_back(&instruction);
  }
  if (!replace || !found) return found;
  llvm::IRBuilder<> b(kernel.getContext());
  auto position = kernel.getParent()->getOrInsertFunction(
      std::string(compiler::kBuiltinPrefix) + "thread_position_in_grid",
      llvm::FunctionType::get(b.getInt32Ty(), {b.getInt32Ty()}, /*isVarArg=*/false));
  for (llvm::Instruction* sum : sums) {
    b.SetInsertPoint(sum);
    auto* call = b.CreateCall(position, {b.getInt32(0)});
    call->setDoesNotAccessMemory();
    call->setDoesNotThrow();
    sum->replaceAllUsesWith(call);
    llvm::RecursivelyDeleteTriviallyDeadInstructions(sum);
  }
  return found;
}

}  // namespace metal::cuda
