#include "metal/cpu/vectorizer/prefetch/prefetch_strides.h"

#include <algorithm>
#include <optional>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/prefetch/prefetch.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr unsigned kIterations = 8;  // ahead
constexpr int64_t kNear = 256;       // bytes between iterations that processors follow
constexpr int64_t kFar = 1 << 20;    // where only the launch knows
constexpr unsigned kMostReads = 4;   // of a loop

// A number that a loop changes by the same amount in every iteration.
struct Counter {
  llvm::PHINode* phi;
  Value* step;
};

// How the values of a loop change from iteration to iteration.
class Strides {
 public:
  explicit Strides(const llvm::Loop& loop) : loop_(loop) {
    for (llvm::PHINode& phi : loop.getHeader()->phis()) {
      auto* next =
          llvm::dyn_cast<llvm::BinaryOperator>(phi.getIncomingValueForBlock(loop.getLoopLatch()));
      if (!next || next->getOpcode() != Instruction::Add) continue;
      for (unsigned i : {0u, 1u}) {
        if (next->getOperand(i) == &phi && loop.isLoopInvariant(next->getOperand(1 - i)))
          counters_.push_back({&phi, next->getOperand(1 - i)});
      }
    }
  }

  // Bytes, for an address; nothing if that is not known.
  std::optional<int64_t> of(const Value* value) const {
    if (loop_.isLoopInvariant(value)) return 0;
    const auto* counter =
        llvm::find_if(counters_, [&](const Counter& one) { return one.phi == value; });
    if (counter != counters_.end()) return constant_or_far(counter->step);
    const auto* instruction = checked_cast<Instruction>(value);
    switch (instruction->getOpcode()) {
      case Instruction::ZExt:
      case Instruction::SExt:
      case Instruction::Trunc:
      case Instruction::AddrSpaceCast:
        return of(instruction->getOperand(0));
      case Instruction::Add:
      case Instruction::Or:  // of numbers without common bits
        return sum(of(instruction->getOperand(0)), of(instruction->getOperand(1)), 1);
      case Instruction::Sub:
        return sum(of(instruction->getOperand(0)), of(instruction->getOperand(1)), -1);
      case Instruction::Mul:
        return product(*instruction, constant_or_far(instruction->getOperand(1)));
      case Instruction::Shl:
        return product(*instruction, power_of_two(instruction->getOperand(1)));
      case Instruction::GetElementPtr:
        return of_address(checked_cast<llvm::GetElementPtrInst>(*instruction));
      default:
        return std::nullopt;
    }
  }

  // The value some iterations later, computed at `b`; for one whose stride is known.
  Value* later(llvm::IRBuilder<>& b, Value* value) const {
    if (loop_.isLoopInvariant(value)) return value;
    const auto* counter =
        llvm::find_if(counters_, [&](const Counter& one) { return one.phi == value; });
    if (counter != counters_.end()) {
      Value* iterations = llvm::ConstantInt::get(value->getType(), kIterations);
      return b.CreateAdd(value, b.CreateMul(counter->step, iterations));
    }
    Instruction* copy = checked_cast<Instruction>(value)->clone();
    for (llvm::Use& operand : copy->operands()) operand.set(later(b, operand));
    copy->dropPoisonGeneratingFlags();
    return b.Insert(copy);
  }

 private:
  static int64_t constant_or_far(const Value* value) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
    return constant && constant->getValue().isSignedIntN(32) ? constant->getSExtValue() : kFar;
  }

  static int64_t power_of_two(const Value* exponent) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(exponent);
    return constant && constant->getValue().ult(20) ? int64_t{1} << constant->getZExtValue() : kFar;
  }

  static std::optional<int64_t> sum(std::optional<int64_t> a, std::optional<int64_t> b,
                                    int64_t factor) {
    if (!a || !b) return std::nullopt;
    return std::clamp(*a + factor * *b, -kFar, kFar);
  }

  // Of what changes and a factor that does not.
  std::optional<int64_t> product(const Instruction& instruction, int64_t factor) const {
    const Value *left = instruction.getOperand(0), *right = instruction.getOperand(1);
    if (!loop_.isLoopInvariant(right)) {
      if (instruction.getOpcode() != Instruction::Mul || !loop_.isLoopInvariant(left))
        return std::nullopt;
      std::swap(left, right);
      factor = kFar;
    }
    return sum(0, of(left), factor);
  }

  std::optional<int64_t> of_address(const llvm::GetElementPtrInst& address) const {
    const llvm::DataLayout& layout = address.getModule()->getDataLayout();
    std::optional<int64_t> stride = of(address.getPointerOperand());
    for (auto step = llvm::gep_type_begin(address); step != llvm::gep_type_end(address); ++step) {
      if (step.isStruct()) continue;
      const auto size = static_cast<int64_t>(step.getSequentialElementStride(layout));
      stride = sum(stride, of(step.getOperand()), size);
    }
    return stride;
  }

  const llvm::Loop& loop_;
  llvm::SmallVector<Counter> counters_;
};

// Null for anything but a read of memory that changes.
Value* address_of_read(Instruction& instruction) {
  auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  if (!load || reads_constants(*load)) return nullptr;
  Value* address = load->getPointerOperand();
  return is_device_memory(address) ? address : nullptr;
}

bool prefetch_strides(llvm::Loop& loop) {
  const Strides strides(loop);
  llvm::SmallVector<Instruction*> reads;
  for (llvm::BasicBlock* block : loop.blocks()) {
    for (Instruction& instruction : *block) {
      const Value* address = address_of_read(instruction);
      if (!address) continue;
      const std::optional<int64_t> stride = strides.of(address);
      if (!stride || std::abs(*stride) < kNear || reads.size() == kMostReads) return false;
      reads.push_back(&instruction);
    }
  }
  for (Instruction* read : reads) {
    llvm::IRBuilder<> b(read);
    create_prefetch(b, strides.later(b, address_of_read(*read)), Cache::Second);
  }
  return !reads.empty();
}

}  // namespace

llvm::PreservedAnalyses PrefetchStridesPass::run(llvm::Function& body,
                                                 llvm::FunctionAnalysisManager& analyses) {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(body);
  bool changed = false;
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(body).getLoopsInPreorder()) {
    const unsigned count = evolution.getSmallConstantTripCount(loop);
    const bool is_short = count != 0 && count <= kIterations;
    if (loop->isInnermost() && loop->getLoopLatch() && !is_short)
      changed |= prefetch_strides(*loop);
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace metal::cpu
