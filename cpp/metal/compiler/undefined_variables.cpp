#include "metal/compiler/undefined_variables.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/kernel_form.h"

namespace metal::compiler {
namespace {

// More elements than these are marked by one call. Others are marked one by one, as the optimiser
// can then make values of them.
constexpr uint64_t kMaxElements = 64;

constexpr const char* kValue = "__metal_undefined:";
constexpr const char* kMemory = "__metal_undefine:";

// Clang's own mark of its patterns.
bool is_pattern(const llvm::Instruction& instruction) {
  const llvm::MDNode* notes = instruction.getMetadata(llvm::LLVMContext::MD_annotation);
  return notes && llvm::any_of(notes->operands(), [](const llvm::MDOperand& note) {
           const auto* text = llvm::dyn_cast<llvm::MDString>(note.get());
           return text && text->getString() == "auto-init";
         });
}

struct Element {
  llvm::Type* type;
  uint64_t offset;
};

// What a type consists of. Padding is left out. False if these are too many.
bool add_elements(llvm::Type* type, uint64_t offset, const llvm::DataLayout& layout,
                  std::vector<Element>& elements) {
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    const llvm::StructLayout& places = *layout.getStructLayout(structure);
    for (unsigned i = 0; i < structure->getNumElements(); ++i) {
      if (!add_elements(structure->getElementType(i), offset + places.getElementOffset(i), layout,
                        elements))
        return false;
    }
    return true;
  }
  uint64_t count = 0;
  llvm::Type* element = nullptr;
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    count = array->getNumElements(), element = array->getElementType();
  } else if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    count = vector->getNumElements(), element = vector->getElementType();
  } else {
    elements.push_back({type, offset});
    return elements.size() <= kMaxElements;
  }
  const uint64_t step = layout.getTypeAllocSize(element);
  for (uint64_t i = 0; i < count; ++i) {
    if (!add_elements(element, offset + i * step, layout, elements)) return false;
  }
  return true;
}

class Marker {
 public:
  Marker(llvm::Instruction& pattern, llvm::Value& pointer)
      : pattern_(pattern), pointer_(pointer), builder_(&pattern) {}

  // Of a scalar or vector.
  void mark(llvm::Type* type) {
    std::vector<Element> elements;
    if (add_elements(type, 0, layout(), elements)) {
      for (const Element& element : elements) store(element, element.offset);
    } else {
      mark_memory(layout().getTypeStoreSize(type));
    }
  }

  // Of these bytes of a variable.
  void mark(uint64_t bytes) {
    llvm::APInt offset(64, 0);
    const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(
        pointer_.stripAndAccumulateConstantOffsets(layout(), offset, /*AllowNonInbounds=*/true));
    std::vector<Element> elements;
    if (!variable || !add_elements(variable->getAllocatedType(), 0, layout(), elements))
      return mark_memory(bytes);
    const uint64_t begin = offset.getZExtValue(), end = begin + bytes;
    for (const Element& element : elements) {
      if (element.offset >= begin &&
          element.offset + layout().getTypeStoreSize(element.type) <= end)
        store(element, element.offset - begin);
    }
  }

 private:
  const llvm::DataLayout& layout() const { return pattern_.getDataLayout(); }

  // What the source calls it.
  std::string name() const { return llvm::getUnderlyingObject(&pointer_)->getName().str(); }

  void store(const Element& element, uint64_t offset) {
    std::string callee = kValue + name() + ":";
    llvm::raw_string_ostream(callee) << *element.type;
    builder_.CreateStore(
        call(callee, element.type, {}),
        builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), &pointer_, offset));
  }

  void mark_memory(uint64_t bytes) {
    llvm::CallInst* mark =
        call(kMemory + name(), builder_.getVoidTy(), {&pointer_, builder_.getInt64(bytes)});
    mark->addParamAttr(0, llvm::Attribute::NoCapture);
    mark->setMemoryEffects(llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::Mod));
  }

  llvm::CallInst* call(const std::string& callee, llvm::Type* result,
                       llvm::ArrayRef<llvm::Value*> operands) {
    llvm::SmallVector<llvm::Type*> types;
    for (const llvm::Value* operand : operands) types.push_back(operand->getType());
    llvm::CallInst* mark =
        builder_.CreateCall(pattern_.getModule()->getOrInsertFunction(
                                callee, llvm::FunctionType::get(result, types, /*isVarArg=*/false)),
                            operands);
    mark->setDoesNotAccessMemory();
    mark->setDoesNotThrow();
    mark->addFnAttr(llvm::Attribute::WillReturn);
    return mark;
  }

  llvm::Instruction& pattern_;
  llvm::Value& pointer_;
  llvm::IRBuilder<> builder_;
};

// False for what Clang uses for arrays of unknown length, which Metal does not have.
bool replace(llvm::Instruction& pattern) {
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&pattern)) {
    Marker(pattern, *store->getPointerOperand()).mark(store->getValueOperand()->getType());
    return true;
  }
  auto* fill = llvm::dyn_cast<llvm::MemIntrinsic>(&pattern);
  const auto* length = fill ? llvm::dyn_cast<llvm::ConstantInt>(fill->getLength()) : nullptr;
  if (!length) return false;
  Marker(pattern, *fill->getDest()).mark(length->getZExtValue());
  return true;
}

bool calls(const llvm::Instruction& instruction, const char* prefix) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName().starts_with(prefix);
}

}  // namespace

void mark_undefined(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      if (is_pattern(instruction) && replace(instruction)) instruction.eraseFromParent();
    }
  }
}

bool is_undefined_value(const llvm::Instruction& instruction) { return calls(instruction, kValue); }

bool is_undefined_memory(const llvm::Instruction& instruction) {
  return calls(instruction, kMemory);
}

std::string undefined_variable(const llvm::CallInst& mark) {
  const llvm::StringRef name = mark.getCalledFunction()->getName();
  return name.split(':').second.split(':').first.str();
}

}  // namespace metal::compiler
