#include "metal/cpu/codegen/element_access.h"

#include <algorithm>
#include <map>
#include <optional>

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "metal/compiler/attributes.h"
#include "metal/compiler/builtin_calls.h"
#include "metal/compiler/compiler.h"
#include "metal/compiler/hardware_math.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

// The place of an access: a kernel's argument, plus `step` bytes for each thread along x, plus
// `first` bytes.
struct Place {
  const llvm::Argument* argument;
  uint64_t step;
  uint64_t first;
};

// Whether a value is the thread's position along x, which cannot be negative.
bool is_position(const Value& value) {
  if (!value.getType()->isIntegerTy(64)) return false;
  const Value* source = &value;
  while (const auto* extension = llvm::dyn_cast<llvm::ZExtInst>(source))
    source = extension->getOperand(0);
  const auto* call = llvm::dyn_cast<llvm::CallInst>(source);
  const auto found = call ? compiler::as_builtin_call(*call) : std::nullopt;
  return found && found->builtin == compiler::Builtin::ThreadPositionInGrid &&
         found->component == 0;
}

std::optional<Place> place_of(const Value& pointer, const llvm::DataLayout& layout) {
  const Value* base = &pointer;
  llvm::MapVector<Value*, llvm::APInt> steps;
  llvm::APInt first(64, 0);
  while (const auto* address = llvm::dyn_cast<llvm::GEPOperator>(base)) {
    if (!address->collectOffset(layout, 64, steps, first)) return std::nullopt;
    base = address->getPointerOperand();
  }
  const auto* argument = llvm::dyn_cast<llvm::Argument>(base);
  if (!argument || steps.size() > 1 || first.isNegative()) return std::nullopt;
  Place place{argument, 0, first.getZExtValue()};
  if (steps.empty()) return place;
  const auto& [index, step] = steps.front();
  if (!is_position(*index) || !step.isStrictlyPositive()) return std::nullopt;
  place.step = step.getZExtValue();
  return place;
}

// What belongs to the thread itself, or never changes.
bool is_private(const Value& pointer) {
  const Value* object = llvm::getUnderlyingObject(&pointer);
  const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(object);
  return llvm::isa<llvm::AllocaInst>(object) || (global && global->isConstant());
}

class Accesses {
 public:
  Accesses(const llvm::DataLayout& layout, const FunctionInfo& function)
      : layout_(layout), function_(function) {}

  // False if the instruction accesses memory in another way.
  bool add(const Instruction& instruction) {
    if (!instruction.mayReadOrWriteMemory()) return true;
    if (instruction.isVolatile() || instruction.isAtomic()) return false;
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      return add(*load->getPointerOperand(), size_of(*load->getType()), false);
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
      return add(*store->getPointerOperand(), size_of(*store->getValueOperand()->getType()), true);
    const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction);
    const auto* bytes = copy ? llvm::dyn_cast<llvm::ConstantInt>(copy->getLength()) : nullptr;
    return bytes && add(*copy->getRawSource(), bytes->getZExtValue(), false) &&
           add(*copy->getRawDest(), bytes->getZExtValue(), true);
  }

  std::vector<ElementAccess> rows() const {
    std::vector<ElementAccess> result;
    for (const auto& [buffer, access] : found_) result.push_back(access);
    return result;
  }

 private:
  uint64_t size_of(llvm::Type& type) const { return layout_.getTypeStoreSize(&type); }

  bool add(const Value& pointer, uint64_t bytes, bool stores) {
    if (is_private(pointer)) return true;
    const auto place = place_of(pointer, layout_);
    if (!place || place->argument->getArgNo() >= function_.arguments.size()) return false;
    const ArgumentInfo& argument = function_.arguments[place->argument->getArgNo()];
    return argument.kind == ArgumentKind::Buffer && add(argument.index, *place, bytes, stores);
  }

  bool add(uint32_t buffer, const Place& place, uint64_t bytes, bool stores) {
    constexpr uint64_t kMostBytes = 4096;  // of an element
    const uint64_t limit = place.step ? place.step : kMostBytes;
    if (limit > kMostBytes || bytes > limit || place.first > limit - bytes) return false;
    if (stores && place.step == 0) return false;
    const auto step = static_cast<uint32_t>(place.step);
    const auto [entry, is_new] =
        found_.try_emplace(buffer, ElementAccess{.buffer = buffer, .bytes = step});
    ElementAccess& access = entry->second;
    if (access.bytes != step) return false;
    if (step == 0)
      access.shared = std::max(access.shared, static_cast<uint32_t>(place.first + bytes));
    access.written |= stores;
    return true;
  }

  const llvm::DataLayout& layout_;
  const FunctionInfo& function_;
  std::map<uint32_t, ElementAccess> found_;  // by buffer
};

}  // namespace

std::vector<ElementAccess> find_element_accesses(const llvm::Module& kernel,
                                                 const FunctionInfo& function) {
  Accesses accesses(kernel.getDataLayout(), function);
  for (const llvm::Function& defined : kernel) {
    if (compiler::is_hardware_math(defined)) continue;
    const bool is_kernel = defined.getName() == function.name;
    if (!defined.isDeclaration() && !is_kernel) return {};  // what was not inlined
    for (const Instruction& instruction : llvm::instructions(defined)) {
      if (!accesses.add(instruction)) return {};
    }
  }
  return accesses.rows();
}

}  // namespace metal::cpu
