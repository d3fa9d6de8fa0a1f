#include "metal/cpu/checks/index_overflow.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

bool is_arithmetic(const Value& value) {
  const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&value);
  if (!operation) return false;
  switch (operation->getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::Mul:
      return true;
    case Instruction::Shl:
      return llvm::isa<llvm::ConstantInt>(operation->getOperand(1));
    default:
      return false;
  }
}

bool is_word(const Value& value) { return value.getType()->isIntegerTy(32); }

// An integer of 32 bits that becomes (part of) an index, by an extension.
struct Index {
  llvm::BinaryOperator* value;
  bool is_signed;
  bool operator==(const Index&) const = default;
};

class IndexFinder {
 public:
  std::vector<Index> found;

  void add_pointer(Value* pointer) {
    while (auto* address = llvm::dyn_cast<llvm::Operator>(pointer)) {
      if (auto* step = llvm::dyn_cast<llvm::GEPOperator>(address)) {
        for (Value* index : step->indices()) add(index, /*is_signed=*/true);
      } else if (address->getOpcode() != Instruction::AddrSpaceCast) {
        return;
      }
      pointer = address->getOperand(0);
    }
  }

 private:
  void add(Value* index, bool is_signed) {
    if (is_word(*index)) {
      auto* value = is_arithmetic(*index) ? llvm::dyn_cast<llvm::BinaryOperator>(index) : nullptr;
      if (value && llvm::find(found, Index{value, is_signed}) == found.end())
        found.push_back({value, is_signed});
    } else if (auto* extension = llvm::dyn_cast<llvm::CastInst>(index)) {
      if (llvm::isa<llvm::ZExtInst, llvm::SExtInst>(extension) &&
          is_word(*extension->getOperand(0)))
        add(extension->getOperand(0), llvm::isa<llvm::SExtInst>(extension));
    } else if (is_arithmetic(*index)) {
      for (Value* operand : checked_cast<llvm::BinaryOperator>(index)->operands())
        add(operand, is_signed);
    }
  }
};

// The same in 64 bits, beside each operation.
class ExactValues {
 public:
  Value* of(Value* value, bool is_signed) {
    if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value)) return of_constant(*constant);
    if (Value* known = known_[is_signed].lookup(value)) return known;
    Value* exact = is_arithmetic(*value)
                       ? of_operation(*checked_cast<llvm::BinaryOperator>(value), is_signed)
                       : of_start(*value, is_signed);
    return known_[is_signed][value] = exact;
  }

 private:
  Value* of_operation(llvm::BinaryOperator& operation, bool is_signed) {
    Value* left = of(operation.getOperand(0), is_signed);
    Value* right = of(operation.getOperand(1), is_signed);
    llvm::IRBuilder<> b(operation.getNextNode());
    return b.CreateBinOp(operation.getOpcode(), left, right);
  }

  static Value* of_start(Value& value, bool is_signed) {
    auto* instruction = llvm::dyn_cast<Instruction>(&value);
    llvm::Type* type = llvm::Type::getInt64Ty(value.getContext());
    if (!instruction) return llvm::Constant::getNullValue(type);  // it has no value
    llvm::IRBuilder<> b(llvm::isa<llvm::PHINode>(instruction)
                            ? &*instruction->getParent()->getFirstInsertionPt()
                            : instruction->getNextNode());
    return b.CreateIntCast(&value, type, is_signed);
  }

  // Distances are small, and backwards ones look like large numbers.
  static Value* of_constant(const llvm::ConstantInt& constant) {
    const uint64_t value = constant.getZExtValue();
    const bool backwards = value >= 0xc0000000;
    auto* type = llvm::Type::getInt64Ty(constant.getContext());
    return llvm::ConstantInt::get(
        type, backwards ? static_cast<uint64_t>(constant.getSExtValue()) : value);
  }

  llvm::DenseMap<Value*, Value*> known_[2];  // by whether they are read as signed
};

Value* differs(llvm::IRBuilder<>& b, Value* value, Value* exact, bool is_signed) {
  return b.CreateICmpNE(b.CreateIntCast(value, b.getInt64Ty(), is_signed), exact);
}

class IndexCheck {
 public:
  IndexCheck(CheckBuilder& builder, Provenances& provenances)
      : builder_(builder), provenances_(provenances) {}

  void add(const Access& access, const Index& index) {
    llvm::SetVector<llvm::BinaryOperator*> steps;
    find_steps(index.value, steps);
    // Before the branch, so that values are where the operations are.
    std::vector<std::pair<Value*, Value*>> exact;
    for (llvm::BinaryOperator* step : steps)
      exact.emplace_back(exact_.of(step, true), exact_.of(step, false));
    llvm::IRBuilder<> b(access.instruction);
    auto wraps = [&](size_t i) {
      return b.CreateAnd(differs(b, steps[i], exact[i].first, true),
                         differs(b, steps[i], exact[i].second, false));
    };
    // What is wrong as an index: in its own reading, which the other one does not explain.
    Value* used = b.CreateIntCast(index.value, b.getInt64Ty(), index.is_signed);
    Value* wrong = b.CreateAnd(b.CreateICmpNE(used, exact.back().first),
                               b.CreateICmpNE(used, exact.back().second));
    b.SetInsertPoint(builder_.unlikely_if(wrong, *access.instruction));
    const Provenance object = provenances_.of(access.written);
    Value* site = builder_.site(index.value->getDebugLoc(), operator_of(*index.value));
    Value* left = operand(index.value, 0, index.is_signed);
    Value* right = operand(index.value, 1, index.is_signed);
    Value* value = used;
    Value* meant = index.is_signed ? exact.back().first : exact.back().second;
    for (size_t i = steps.size(); i-- > 0;) {  // the first of them counts
      llvm::BinaryOperator* step = steps[i];
      Value* here = wraps(i);
      site = b.CreateSelect(here, builder_.site(step->getDebugLoc(), operator_of(*step)), site);
      left = b.CreateSelect(here, operand(step, 0, index.is_signed), left);
      right = b.CreateSelect(here, operand(step, 1, index.is_signed), right);
      value = b.CreateSelect(here, b.CreateIntCast(step, b.getInt64Ty(), index.is_signed), value);
      meant = b.CreateSelect(here, index.is_signed ? exact[i].first : exact[i].second, meant);
    }
    builder_.call(b, "metal_cpu_check_wrapped", b.getVoidTy(),
                  {site, builder_.site(access_location(*access.instruction, *access.written)),
                   object.object, value, meant, left, right});
  }

 private:
  // Operands come first.
  static void find_steps(Value* value, llvm::SetVector<llvm::BinaryOperator*>& steps) {
    if (!is_arithmetic(*value)) return;
    auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value);
    for (Value* operand : operation->operands()) find_steps(operand, steps);
    steps.insert(operation);
  }

  static std::string operator_of(const llvm::BinaryOperator& operation) {
    switch (operation.getOpcode()) {
      case Instruction::Add:
        return "+";
      case Instruction::Sub:
        return "-";
      case Instruction::Mul:
        return "*";
      default:
        return "<<";
    }
  }

  Value* operand(llvm::BinaryOperator* operation, unsigned place, bool is_signed) {
    return exact_.of(operation->getOperand(place), is_signed);
  }

  CheckBuilder& builder_;
  Provenances& provenances_;
  ExactValues exact_;
};

}  // namespace

void check_indices(CheckBuilder& builder, Provenances& provenances,
                   const std::vector<Access>& accesses) {
  IndexCheck check(builder, provenances);
  for (const Access& access : accesses) {
    IndexFinder finder;
    finder.add_pointer(access.written);
    for (const Index& index : finder.found) check.add(access, index);
  }
}

void screen_indices(CheckBuilder& builder, const std::vector<Access>& accesses) {
  ExactValues exact;
  for (const Access& access : accesses) {
    IndexFinder finder;
    finder.add_pointer(access.written);
    for (const Index& index : finder.found) {
      Value* meant = exact.of(index.value, index.is_signed);
      llvm::IRBuilder<> b(access.instruction);
      builder.suspect_if(differs(b, index.value, meant, index.is_signed), *access.instruction);
    }
  }
}

}  // namespace metal::cpu
