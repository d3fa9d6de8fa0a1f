#include "metal/cuda/strided_loop.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/KnownBits.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cuda {
namespace {

bool is_less(llvm::CmpInst::Predicate predicate) {
  using llvm::CmpInst;
  return predicate == CmpInst::ICMP_ULT || predicate == CmpInst::ICMP_ULE ||
         predicate == CmpInst::ICMP_SLT || predicate == CmpInst::ICMP_SLE;
}

// The same loop, of numbers in place of addresses.
StridedLoop as_numbers(llvm::IRBuilder<>& b, const StridedLoop& strided) {
  if (!strided.sum->getType()->isPointerTy()) return strided;
  llvm::Type* type =
      strided.loop->getHeader()->getModule()->getDataLayout().getIntPtrType(strided.sum->getType());
  StridedLoop numbers = strided;
  numbers.first = b.CreatePtrToInt(strided.first, type);
  numbers.end = b.CreatePtrToInt(strided.end, type);
  numbers.stride = b.CreateMul(b.CreateSExtOrTrunc(strided.stride, type),
                               llvm::ConstantInt::get(type, strided.size));
  return numbers;
}

// How often the loop runs, if no sum wraps around and the stride is not 0.
llvm::Value* count_iterations(llvm::IRBuilder<>& b, const StridedLoop& strided) {
  llvm::Type* type = strided.stride->getType();
  llvm::Value *zero = llvm::ConstantInt::get(type, 0), *one = llvm::ConstantInt::get(type, 1);
  llvm::Value* distance = b.CreateSub(strided.end, strided.first);
  if (!llvm::ICmpInst::isNonStrictPredicate(strided.goes_on)) distance = b.CreateSub(distance, one);
  llvm::Value* reaches = b.CreateICmp(strided.goes_on, strided.first, strided.end);
  llvm::Value* further = b.CreateUDiv(distance, strided.stride);
  return b.CreateNUWAdd(b.CreateSelect(reaches, further, zero), one);
}

// Whether the stride is positive and no sum wraps around. A number from which a sum is made is at
// most the end, or the first one.
llvm::Value* does_not_wrap(llvm::IRBuilder<>& b, const StridedLoop& strided) {
  using llvm::CmpInst;
  const bool is_signed = CmpInst::isSigned(strided.goes_on);
  const auto bits = strided.stride->getType()->getIntegerBitWidth();
  const auto largest =
      is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
  llvm::Value* most = b.CreateSub(b.getInt(largest), strided.stride);
  const auto at_most = is_signed ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE;
  const auto more = is_signed ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT;
  llvm::Value* fits = b.CreateAnd(b.CreateICmp(at_most, strided.end, most),
                                  b.CreateICmp(at_most, strided.first, most));
  return b.CreateAnd(fits, b.CreateICmp(more, strided.stride, b.getInt(llvm::APInt(bits, 0))));
}

// The bytes that the second operand of a sum counts: those of an element if it is an address. 0 if
// it is no sum.
uint64_t size_of_step(const llvm::Instruction& instruction) {
  if (instruction.getOpcode() == llvm::Instruction::Add) return 1;
  const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
  if (!address || address->getNumIndices() != 1 || address->getType()->isVectorTy()) return 0;
  return address->getModule()->getDataLayout().getTypeAllocSize(address->getSourceElementType());
}

}  // namespace

void end_after(llvm::Loop& loop, llvm::Value* count) {
  llvm::BasicBlock *header = loop.getHeader(), *latch = loop.getLoopLatch();
  auto* branch = checked_cast<llvm::BranchInst>(latch->getTerminator());
  llvm::IRBuilder<> at_start(header, header->begin()), at_end(branch);
  llvm::PHINode* done = at_start.CreatePHI(count->getType(), 2, "iteration");
  llvm::Value* next = at_end.CreateNUWAdd(done, llvm::ConstantInt::get(count->getType(), 1));
  done->addIncoming(llvm::ConstantInt::get(count->getType(), 0), loop.getLoopPreheader());
  done->addIncoming(next, latch);
  branch->setCondition(branch->getSuccessor(0) == header ? at_end.CreateICmpNE(next, count)
                                                         : at_end.CreateICmpEQ(next, count));
}

std::optional<uint64_t> known_iterations(const StridedLoop& strided) {
  const auto* stride = llvm::dyn_cast<llvm::ConstantInt>(strided.stride);
  const auto* end = llvm::dyn_cast<llvm::ConstantInt>(strided.end);
  if (!stride || !end || stride->isZero() || strided.goes_on != llvm::CmpInst::ICMP_ULT)
    return std::nullopt;
  const llvm::APInt &step = stride->getValue(), &limit = end->getValue();
  const llvm::KnownBits first = llvm::computeKnownBits(
      strided.first, strided.loop->getHeader()->getModule()->getDataLayout());
  // Above the end, a sum is less than a stride further.
  if (first.getMaxValue().uge(step) || !limit.urem(step).isZero() || limit.isZero() ||
      limit.ugt(llvm::APInt::getMaxValue(limit.getBitWidth()) - step))
    return std::nullopt;
  return limit.udiv(step).getLimitedValue();
}

std::optional<StridedLoop> find_strided_loop(llvm::Loop& loop) {
  using llvm::CmpInst;
  const llvm::BasicBlock* latch = loop.getLoopLatch();
  if (!latch || loop.getExitingBlock() != latch || !loop.getExitBlock() ||
      !loop.getLoopPreheader() || !loop.hasDedicatedExits())
    return std::nullopt;
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator());
  const auto* compare = branch ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()) : nullptr;
  if (!compare) return std::nullopt;
  const bool is_left = loop.isLoopInvariant(compare->getOperand(1));
  auto predicate = is_left ? compare->getPredicate() : compare->getSwappedPredicate();
  if (branch->getSuccessor(0) != loop.getHeader())
    predicate = CmpInst::getInversePredicate(predicate);
  auto* sum = llvm::dyn_cast<llvm::Instruction>(compare->getOperand(is_left ? 0 : 1));
  llvm::Value* end = compare->getOperand(is_left ? 1 : 0);
  const uint64_t size = sum ? size_of_step(*sum) : 0;
  if (!is_less(predicate) || size == 0 || !loop.isLoopInvariant(end)) return std::nullopt;
  for (unsigned i : {0u, 1u}) {
    const auto* number = llvm::dyn_cast<llvm::PHINode>(sum->getOperand(i));
    llvm::Value* stride = sum->getOperand(1 - i);
    if (!number || number->getParent() != loop.getHeader() || !loop.isLoopInvariant(stride) ||
        number->getIncomingValueForBlock(latch) != sum)
      continue;
    llvm::Value* first = number->getIncomingValueForBlock(loop.getLoopPreheader());
    return StridedLoop{&loop, sum, first, stride, end, predicate, size};
  }
  return std::nullopt;
}

llvm::Loop* split_off_wrapping(const StridedLoop& strided, llvm::LoopInfo& loops,
                               llvm::DominatorTree& dominators) {
  llvm::Loop& loop = *strided.loop;
  llvm::BasicBlock *test = loop.getLoopPreheader(), *exit = loop.getExitBlock();
  llvm::BasicBlock* preheader = llvm::SplitBlock(test, test->getTerminator(), &dominators, &loops);
  llvm::ValueToValueMapTy copies;
  llvm::SmallVector<llvm::BasicBlock*> blocks;
  llvm::Loop* copy = llvm::cloneLoopWithPreheader(preheader, test, &loop, copies, ".strided",
                                                  &loops, &dominators, blocks);
  llvm::remapInstructionsInBlocks(blocks, copies);

  llvm::IRBuilder<> b(test->getTerminator());
  const StridedLoop numbers = as_numbers(b, strided);
  b.CreateCondBr(does_not_wrap(b, numbers), copy->getLoopPreheader(), preheader);
  test->getTerminator()->eraseFromParent();
  for (llvm::PHINode& result : exit->phis()) {
    llvm::Value* value = result.getIncomingValueForBlock(loop.getExitingBlock());
    const auto copied = copies.find(value);
    result.addIncoming(copied == copies.end() ? value : static_cast<llvm::Value*>(copied->second),
                       copy->getExitingBlock());
  }
  dominators.changeImmediateDominator(exit, test);
  if (auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(copies[strided.sum])) {
    llvm::CmpInst::isSigned(strided.goes_on) ? sum->setHasNoSignedWrap()
                                             : sum->setHasNoUnsignedWrap();
  }
  llvm::IRBuilder<> before(copy->getLoopPreheader()->getTerminator());
  end_after(*copy, count_iterations(before, numbers));
  return copy;
}

}  // namespace metal::cuda
