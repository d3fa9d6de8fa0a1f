#include "metal/cpu/codegen/row_access.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "metal/compiler/attributes.h"
#include "metal/compiler/builtin_calls.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/compiler.h"
#include "metal/cpu/abi.h"
#include "metal/cpu/cache_line.h"
#include "metal/cpu/codegen/repetition.h"
#include "metal/cpu/variant.h"
#include "metal/cpu/vectorizer/memory/buffers.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr int64_t kNearColumn = 32;  // bytes; what is closer is read at once

// By how much a value grows from one thread or threadgroup to the next along a dimension; nothing
// where that is not known. It is a guess: numbers that wrap around and values that change in loops
// do not count.
using Step = std::optional<int64_t>;

Step scaled(Step step, const Value& factor) {
  if (step == 0) return 0;
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(&factor);
  if (!step || !constant || constant->getValue().getSignificantBits() > 32) return std::nullopt;
  return *step * constant->getSExtValue();
}

enum class StepOf { Thread, Threadgroup };

class Steps {
 public:
  Steps(const llvm::DataLayout& layout, unsigned dimension, StepOf of = StepOf::Thread)
      : layout_(layout), dimension_(dimension), of_(of) {}

  Step of(const Value& value) {
    const auto* instruction = llvm::dyn_cast<Instruction>(&value);
    if (!instruction) return 0;
    // A loop comes back to its own value, which adds nothing.
    const auto [found, is_new] = steps_.try_emplace(instruction, 0);
    if (!is_new) return found->second;
    const Step step = compute(*instruction);
    steps_[instruction] = step;
    return step;
  }

 private:
  Step compute(const Instruction& instruction) {
    auto operand = [&](unsigned i) { return of(*instruction.getOperand(i)); };
    switch (instruction.getOpcode()) {
      case Instruction::Call:
        if (const Step position = of_position(*checked_cast<llvm::CallInst>(&instruction)))
          return position;
        break;
      case Instruction::PHI:
        return operand(0);  // the value before a loop stands first
      case Instruction::Add:
      case Instruction::Or:
        return sum(operand(0), operand(1));
      case Instruction::Sub:
        return sum(operand(0),
                   scaled(operand(1), *llvm::ConstantInt::getSigned(instruction.getType(), -1)));
      case Instruction::Mul:
        if (operand(1) == 0) return scaled(operand(0), *instruction.getOperand(1));
        break;
      case Instruction::Shl: {
        const auto* shift = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
        if (shift && shift->getValue().ult(32))
          return scaled(operand(0),
                        *llvm::ConstantInt::get(llvm::Type::getInt64Ty(instruction.getContext()),
                                                uint64_t{1} << shift->getZExtValue()));
        break;
      }
      case Instruction::ZExt:
      case Instruction::SExt:
      case Instruction::Trunc:
      case Instruction::Freeze:
      case Instruction::AddrSpaceCast:
        return operand(0);
      case Instruction::GetElementPtr:
        return of_address(*checked_cast<llvm::GEPOperator>(&instruction));
      default:
        break;
    }
    return of_others(instruction);
  }

  Step of_position(const llvm::CallInst& call) const {
    const auto found = compiler::as_builtin_call(call);
    if (!found) return std::nullopt;
    switch (found->builtin) {
      case compiler::Builtin::ThreadPositionInGrid:
        return found->component == dimension_ ? 1 : 0;
      case compiler::Builtin::ThreadPositionInThreadgroup:
        return of_ == StepOf::Thread && found->component == dimension_ ? 1 : 0;
      case compiler::Builtin::ThreadgroupPositionInGrid:
        return of_ == StepOf::Threadgroup && found->component == dimension_ ? 1 : 0;
      case compiler::Builtin::ThreadIndexInThreadgroup:
        if (of_ == StepOf::Threadgroup) return 0;
        return dimension_ == 0 ? Step(1) : std::nullopt;
      default:
        return 0;
    }
  }

  Step of_address(const llvm::GEPOperator& address) {
    llvm::MapVector<Value*, llvm::APInt> variable;
    llvm::APInt constant(64, 0);
    if (!address.collectOffset(layout_, 64, variable, constant)) return of_others(address);
    Step step = of(*address.getPointerOperand());
    for (const auto& [index, bytes] : variable) {
      const Step own = of(*index);
      step = sum(step, own ? Step(*own * bytes.getSExtValue()) : own);
    }
    return step;
  }

  static Step sum(Step a, Step b) { return a && b ? Step(*a + *b) : std::nullopt; }

  // What is computed from the same for all threads is the same.
  Step of_others(const llvm::User& user) {
    const bool same =
        llvm::all_of(user.operands(), [this](const llvm::Use& use) { return of(*use) == 0; });
    return same ? Step(0) : std::nullopt;
  }

  const llvm::DataLayout& layout_;
  const unsigned dimension_;
  const StepOf of_;
  llvm::DenseMap<const Instruction*, Step> steps_;
};

// Whether threads that are neighbours along a row have consecutive values.
bool counts_along_row(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const auto found = call ? compiler::as_builtin_call(*call) : std::nullopt;
  if (!found || found->component != 0) return false;
  return found->builtin == compiler::Builtin::ThreadPositionInGrid ||
         found->builtin == compiler::Builtin::ThreadPositionInThreadgroup ||
         found->builtin == compiler::Builtin::ThreadIndexInThreadgroup;
}

// The power of two by which the number is divided; 0 if it is not.
uint64_t divisor_of(const Value& number, const llvm::User& user) {
  if (user.getNumOperands() != 2 || user.getOperand(0) != &number) return 0;
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(user.getOperand(1));
  const auto* instruction = llvm::dyn_cast<Instruction>(&user);
  if (!constant || !instruction) return 0;
  const llvm::APInt& operand = constant->getValue();
  switch (instruction->getOpcode()) {
    case Instruction::LShr:
      return operand.ult(32) ? uint64_t{1} << operand.getZExtValue() : 0;
    case Instruction::And:
      return operand.isNegatedPowerOf2() ? (-operand).getZExtValue() : 0;
    default:
      return 0;
  }
}

bool is_device_access(const Instruction& instruction) {
  const Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
  return pointer && is_device_memory(pointer);
}

bool is_apart(Step step, int64_t bytes) { return !step || std::abs(*step) >= bytes; }

// Whether an access of this kind is at least so many bytes from that of the next thread of a row.
bool any_is_apart(const llvm::Module& kernel,
                  llvm::function_ref<bool(const Instruction&)> is_access, int64_t bytes) {
  Steps along(kernel.getDataLayout(), 0);
  return any_instruction(kernel, [&](const Instruction& instruction) {
    return is_access(instruction) &&
           is_apart(along.of(*llvm::getLoadStorePointerOperand(&instruction)), bytes);
  });
}

}  // namespace

bool jumps_along_rows(const llvm::Module& kernel) {
  return any_is_apart(kernel, is_device_access, int64_t{kCacheLine});
}

uint32_t column_dimension(const llvm::Module& kernel) {
  const llvm::DataLayout& layout = kernel.getDataLayout();
  Steps along(layout, 0);
  for (const unsigned dimension : {1u, 2u}) {
    Steps column(layout, dimension);
    const bool found = any_instruction(kernel, [&](const Instruction& instruction) {
      if (!is_device_access(instruction)) return false;
      const Value& address = *llvm::getLoadStorePointerOperand(&instruction);
      llvm::Type* type = llvm::getLoadStoreType(const_cast<Instruction*>(&instruction));
      return column.of(address) == static_cast<int64_t>(layout.getTypeStoreSize(type)) &&
             is_apart(along.of(address), int64_t{kCacheLine});
    });
    if (found) return dimension;
  }
  return 0;
}

bool groups_write_columns(const llvm::Module& kernel) {
  Steps beside(kernel.getDataLayout(), 0, StepOf::Threadgroup);
  Steps below(kernel.getDataLayout(), 1, StepOf::Threadgroup);
  return any_instruction(kernel, [&](const Instruction& instruction) {
    if (!llvm::isa<llvm::StoreInst>(instruction) || !is_device_access(instruction)) return false;
    const Value& address = *llvm::getLoadStorePointerOperand(&instruction);
    const Step step = below.of(address);
    return step && *step != 0 && !is_apart(step, int64_t{kCacheLine}) &&
           is_apart(beside.of(address), int64_t{kCacheLine});
  });
}

bool reads_tile_columns(const llvm::Module& kernel) {
  return any_is_apart(kernel, reads_threadgroup_memory, kNearColumn);
}

uint32_t divided_row(const llvm::Module& kernel) {
  uint64_t row = kSimdWidth;
  any_instruction(kernel, [&](const Instruction& number) {
    if (!counts_along_row(number)) return false;
    for (const llvm::User* user : number.users()) {
      const uint64_t divisor = divisor_of(number, *user);
      if (divisor >= kNarrowestGang) row = std::min(row, divisor);
    }
    return false;
  });
  return static_cast<uint32_t>(row);
}

}  // namespace metal::cpu
