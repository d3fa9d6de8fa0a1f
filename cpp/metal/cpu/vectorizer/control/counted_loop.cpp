#include "metal/cpu/vectorizer/control/counted_loop.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/codegen/group_access.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/memory/separate_memory.h"

namespace metal::cpu {

using llvm::Instruction;
using llvm::PHINode;
using llvm::SCEV;
using llvm::Value;

namespace {

constexpr uint64_t kMaxStep = 1u << 16;  // from one thread's first number to the next one's

llvm::Argument* x_of(const llvm::Loop& loop) {
  return loop.getHeader()->getParent()->getArg(kXArgument);
}

const SCEV* with_x(const SCEV* value, llvm::Argument* x, const SCEV* replacement,
                   llvm::ScalarEvolution& evolution) {
  llvm::ValueToSCEVMapTy values{{x, replacement}};
  return llvm::SCEVParameterRewriter::rewrite(value, evolution, values);
}

const SCEV* at_first_thread(const SCEV* start, llvm::Argument* x,
                            llvm::ScalarEvolution& evolution) {
  return with_x(start, x, evolution.getZero(x->getType()), evolution);
}

// Although the operands are the same.
bool may_differ(Threads threads, const Value& value) {
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(&value)) {
    const bool is_row = threads == Threads::OfRow &&
                        (argument->getArgNo() == kYArgument || argument->getArgNo() == kZArgument);
    return argument->getArgNo() != kGroupArgument && !is_row;
  }
  if (llvm::isa<PHINode, llvm::AllocaInst, llvm::CallBase>(value)) return true;
  const auto* instruction = llvm::dyn_cast<Instruction>(&value);
  if (!instruction || !instruction->mayReadOrWriteMemory()) return false;
  return !reads_constants(*instruction) && !reads_unwritten_buffer(*instruction);
}

// False if it is not known how much further the next thread of the row starts.
bool find_starts(CountedLoop& counted, llvm::ScalarEvolution& evolution, Threads threads) {
  const SCEV* start = recurrence_of(*counted.number, *counted.loop, evolution)->getStart();
  bool is_signed = counted.is_signed;
  if (const auto* extension = llvm::dyn_cast<llvm::SCEVIntegralCastExpr>(start);
      extension && !llvm::isa<llvm::SCEVTruncateExpr>(extension)) {
    start = extension->getOperand();
    is_signed |= llvm::isa<llvm::SCEVSignExtendExpr>(extension);
  }
  const auto bits = static_cast<unsigned>(evolution.getTypeSizeInBits(start->getType()));
  counted.greatest_start = llvm::maxUIntN(is_signed ? bits - 1 : bits);
  llvm::Argument* x = x_of(*counted.loop);
  const SCEV* next = evolution.getAddExpr(evolution.getSCEV(x), evolution.getOne(x->getType()));
  const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(
      evolution.getMinusSCEV(with_x(start, x, next, evolution), start));
  if (!step || !is_same(threads, *at_first_thread(start, x, evolution))) return false;
  counted.thread_step = step->getAPInt().getLimitedValue();
  return counted.thread_step > 0 && counted.thread_step <= kMaxStep;
}

// The comparison after which the loop goes on; null if there is none.
struct Comparison {
  llvm::CmpInst::Predicate predicate;
  Value *compared, *limit;
};

std::optional<Comparison> comparison_of(const llvm::Loop& loop) {
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(loop.getLoopLatch()->getTerminator());
  auto* compare = branch && branch->isConditional()
                      ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition())
                      : nullptr;
  if (!compare) return std::nullopt;
  Comparison found{compare->getPredicate(), compare->getOperand(0), compare->getOperand(1)};
  if (branch->getSuccessor(0) != loop.getHeader())
    found.predicate = llvm::CmpInst::getInversePredicate(found.predicate);
  if (loop.isLoopInvariant(found.compared)) {
    std::swap(found.compared, found.limit);
    found.predicate = llvm::CmpInst::getSwappedPredicate(found.predicate);
  }
  return found;
}

}  // namespace

const llvm::SCEVAddRecExpr* recurrence_of(PHINode& phi, const llvm::Loop& loop,
                                          llvm::ScalarEvolution& evolution) {
  if (!evolution.isSCEVable(phi.getType())) return nullptr;
  const auto* found = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(&phi));
  return found && found->getLoop() == &loop && found->isAffine() ? found : nullptr;
}

bool only_counts(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  return llvm::all_of(loop.getHeader()->phis(),
                      [&](PHINode& phi) { return recurrence_of(phi, loop, evolution); });
}

bool is_same(Threads threads, const Value& value) {
  llvm::SmallSetVector<const Value*, 16> parts;
  parts.insert(&value);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (may_differ(threads, *parts[i])) return false;
    if (const auto* instruction = llvm::dyn_cast<Instruction>(parts[i]))
      parts.insert(instruction->value_op_begin(), instruction->value_op_end());
  }
  return true;
}

bool is_same(Threads threads, const SCEV& value) {
  return !llvm::SCEVExprContains(&value, [&](const SCEV* part) {
    const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
    return unknown && !is_same(threads, *unknown->getValue());
  });
}

std::optional<CountedLoop> find_counted_loop(llvm::Loop& loop, llvm::ScalarEvolution& evolution,
                                             Threads threads) {
  if (!loop.isLoopSimplifyForm() || loop.getExitingBlock() != loop.getLoopLatch() ||
      !only_counts(loop, evolution))
    return std::nullopt;
  const auto comparison = comparison_of(loop);
  if (!comparison || (comparison->predicate != llvm::CmpInst::ICMP_ULT &&
                      comparison->predicate != llvm::CmpInst::ICMP_SLT))
    return std::nullopt;
  Value *compared = comparison->compared, *limit = comparison->limit;
  for (PHINode& phi : loop.getHeader()->phis()) {
    const bool compares_next = phi.getIncomingValueForBlock(loop.getLoopLatch()) == compared;
    if (!compares_next && !(&phi == compared && phi.getType()->isIntegerTy())) continue;
    const bool is_signed = comparison->predicate == llvm::CmpInst::ICMP_SLT;
    const SCEV* start = recurrence_of(phi, loop, evolution)->getStart();
    const SCEV* step = recurrence_of(phi, loop, evolution)->getStepRecurrence(evolution);
    const bool tests_first =
        compares_next && evolution.isLoopEntryGuardedByCond(&loop, comparison->predicate, start,
                                                            evolution.getSCEV(limit));
    CountedLoop counted{&loop, &phi, limit, is_signed, compares_next, tests_first, 0, 0};
    if (!find_starts(counted, evolution, threads) || !loop.isLoopInvariant(limit) ||
        !is_same(threads, *evolution.getSCEV(limit)) || !is_same(threads, *step))
      return std::nullopt;
    return counted;
  }
  return std::nullopt;
}

LoopNumbers::LoopNumbers(const llvm::Loop& loop, llvm::ScalarEvolution& evolution,
                         llvm::IRBuilder<>& b)
    : loop_(loop),
      evolution_(evolution),
      expander_(evolution, loop.getHeader()->getModule()->getDataLayout(), "step"),
      b_(b) {}

Value* LoopNumbers::step_of(PHINode& phi) {
  return expand(recurrence_of(phi, loop_, evolution_)->getStepRecurrence(evolution_));
}

Value* LoopNumbers::in_iteration(PHINode& phi, Value* start, Value* step, Value* iteration,
                                 const CountedLoop* counted) {
  Value* number = b_.CreateZExtOrTrunc(iteration, step->getType());
  if (phi.getType()->isPointerTy()) return b_.CreatePtrAdd(start, b_.CreateMul(step, number));
  // The caller has made sure that the counted number does not wrap around.
  const bool exact = counted && &phi == counted->number;
  const bool exact_if_signed = exact && counted->is_signed;
  return b_.CreateAdd(start, b_.CreateMul(step, number, "", exact, exact_if_signed), "", exact,
                      exact_if_signed);
}

Value* LoopNumbers::first_start(const CountedLoop& counted) {
  const SCEV* start = recurrence_of(*counted.number, loop_, evolution_)->getStart();
  return expand(at_first_thread(start, x_of(loop_), evolution_));
}

Value* LoopNumbers::expand(const SCEV* value) {
  return expander_.expandCodeFor(value, nullptr, b_.GetInsertPoint());
}

Value* runs_iteration(llvm::IRBuilder<>& b, const CountedLoop& counted, Value* number, Value* step,
                      Value* iteration) {
  auto less = counted.is_signed ? llvm::CmpInst::ICMP_SLT : llvm::CmpInst::ICMP_ULT;
  if (counted.tests_first) return b.CreateICmp(less, number, counted.limit);
  // The first iteration runs anyway. The loop compares these before each other one.
  if (!counted.compares_next) number = b.CreateSub(number, step);
  // Not as arguments of one call, whose order each C++ compiler chooses.
  Value* is_first = b.CreateICmpEQ(iteration, b.getInt32(0));
  Value* goes_on = b.CreateICmp(less, number, counted.limit);
  return b.CreateOr(is_first, goes_on);
}

namespace {

// Numbers up to this can be added and multiplied as count_iterations does, without wrapping around.
constexpr uint64_t kMaxNumber = uint64_t{1} << 60;
constexpr uint64_t kMostCounted = uint64_t{1} << 30;

// The greatest number of the type that is compared.
uint64_t greatest(const CountedLoop& counted) {
  llvm::Type* type = counted.number->getType();
  const unsigned bits = type->isPointerTy() ? 64 : type->getIntegerBitWidth();
  return llvm::maxUIntN(counted.is_signed ? bits - 1 : bits);
}

}  // namespace

// With `first` and `last` as the numbers at which the threads of the row start, all of them stay
// below last + iterations * step.
Value* count_iterations(llvm::IRBuilder<>& b, const CountedLoop& counted, Value* first, Value* step,
                        Value* group) {
  // Negative numbers become greater than kMaxNumber.
  auto as_long = [&](Value* value) -> Value* {
    if (value->getType()->isPointerTy()) return b.CreatePtrToInt(value, b.getInt64Ty());
    return counted.is_signed ? b.CreateSExt(value, b.getInt64Ty())
                             : b.CreateZExt(value, b.getInt64Ty());
  };
  first = as_long(first);
  Value* limit = as_long(counted.limit);
  step = as_long(step);
  Value* more = b.CreateUDiv(b.CreateSub(b.CreateSub(limit, first), b.getInt64(1)),
                             b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, step, b.getInt64(1)));
  if (!counted.compares_next) more = b.CreateAdd(more, b.getInt64(1));
  Value* count = b.CreateAdd(b.CreateSelect(b.CreateICmpULT(first, limit), more, b.getInt64(0)),
                             b.getInt64(1));
  Value* threads = GroupAccess(b, group).size(0);
  Value* last = b.CreateAdd(
      first, b.CreateMul(b.CreateZExt(threads, b.getInt64Ty()), b.getInt64(counted.thread_step)));
  Value* end = b.CreateAdd(last, b.CreateMul(count, step));
  Value* known = b.CreateICmpULE(end, b.getInt64(greatest(counted)));
  for (Value* value : {first, limit, step})
    known = b.CreateAnd(known, b.CreateICmpULE(value, b.getInt64(kMaxNumber)));
  known = b.CreateAnd(known, b.CreateICmpULE(last, b.getInt64(counted.greatest_start)));
  known = b.CreateAnd(known, b.CreateICmpNE(step, b.getInt64(0)));
  known = b.CreateAnd(known, b.CreateICmpULE(count, b.getInt64(kMostCounted)));
  return b.CreateSelect(known, b.CreateTrunc(count, b.getInt32Ty()), b.getInt32(0));
}

}  // namespace metal::cpu
