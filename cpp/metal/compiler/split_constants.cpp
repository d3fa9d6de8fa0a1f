#include "metal/compiler/split_constants.h"

#include "llvm/Analysis/TargetFolder.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/specialize.h"

namespace metal::compiler {
namespace {

// Leaves no constant expressions, which the evaluator could not look into.
using Builder = llvm::IRBuilder<llvm::TargetFolder>;

class Splitter {
 public:
  explicit Splitter(llvm::Module& module) : module_(module), layout_(module.getDataLayout()) {}

  void run() {
    for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(module_.globals()))
      split_variable(variable);
    for (llvm::Function* function : initializers(module_)) {
      for (llvm::Instruction& access : llvm::make_early_inc_range(llvm::instructions(*function))) {
        if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&access)) split_load(*load);
        if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&access)) split_store(*store);
      }
    }
  }

 private:
  // The type in which vectors are arrays. Packed structures have their padding as members.
  llvm::Type* without_vectors(llvm::Type* type) const {
    if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
      llvm::Type* element = vector->getElementType();
      return llvm::ArrayType::get(
          element, layout_.getTypeAllocSize(vector) / layout_.getTypeAllocSize(element));
    }
    if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
      return llvm::ArrayType::get(without_vectors(array->getElementType()),
                                  array->getNumElements());
    }
    auto* structure = llvm::dyn_cast<llvm::StructType>(type);
    return structure ? packed(*structure) : type;
  }

  llvm::Type* packed(llvm::StructType& structure) const {
    const llvm::StructLayout& places = *layout_.getStructLayout(&structure);
    std::vector<llvm::Type*> members;
    uint64_t end = 0;
    auto pad_to = [&](uint64_t place) {
      if (place > end) {
        llvm::Type* byte = llvm::Type::getInt8Ty(module_.getContext());
        members.push_back(llvm::ArrayType::get(byte, place - end));
      }
    };
    for (unsigned i = 0; i < structure.getNumElements(); ++i) {
      pad_to(places.getElementOffset(i));
      members.push_back(without_vectors(structure.getElementType(i)));
      end = places.getElementOffset(i) + layout_.getTypeAllocSize(structure.getElementType(i));
    }
    pad_to(places.getSizeInBytes());
    return llvm::StructType::get(module_.getContext(), members, /*isPacked=*/true);
  }

  static bool has_vectors(llvm::Type* type) {
    return type->isVectorTy() ||
           llvm::any_of(type->subtypes(), [](llvm::Type* part) { return has_vectors(part); });
  }

  void split_variable(llvm::GlobalVariable& variable) {
    if (variable.isConstant() || !variable.hasInitializer() ||
        !has_vectors(variable.getValueType()))
      return;
    const llvm::Constant* initial = variable.getInitializer();
    if (!initial->isNullValue() && !llvm::isa<llvm::UndefValue>(initial)) return;
    llvm::Type* type = without_vectors(variable.getValueType());
    auto* split =
        new llvm::GlobalVariable(module_, type, /*isConstant=*/false, variable.getLinkage(),
                                 llvm::Constant::getNullValue(type), "", &variable,
                                 llvm::GlobalValue::NotThreadLocal, variable.getAddressSpace());
    split->setAlignment(
        layout_.getValueOrABITypeAlignment(variable.getAlign(), variable.getValueType()));
    split->takeName(&variable);
    variable.replaceAllUsesWith(split);
    variable.eraseFromParent();
  }

  llvm::Value* place_of(Builder& builder, llvm::Value* vector, uint64_t i,
                        llvm::Type* element) const {
    const uint64_t offset = i * layout_.getTypeAllocSize(element);
    return builder.CreateConstGEP1_64(builder.getInt8Ty(), vector, offset);
  }

  // The type of the element of a variable that `pointer` points to; null if that is not known.
  llvm::Type* element_at(const llvm::Value& pointer) const {
    llvm::APInt offset(layout_.getIndexTypeSizeInBits(pointer.getType()), 0);
    const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(
        pointer.stripAndAccumulateConstantOffsets(layout_, offset, /*AllowNonInbounds=*/true));
    if (!variable) return nullptr;
    llvm::Type* type = variable->getValueType();
    while (type->isAggregateType()) {
      if (!layout_.getGEPIndexForOffset(type, offset)) return nullptr;
    }
    return type;
  }

  // What to access single components of, for an access of this type: a vector, or an integer that
  // stands for several elements, as in copies. Null if the access needs no change.
  llvm::FixedVectorType* parts(llvm::Type* type, const llvm::Value& pointer) const {
    if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) return vector;
    llvm::Type* element = type->isIntegerTy() ? element_at(pointer) : nullptr;
    if (!element || !element->isSized()) return nullptr;
    const uint64_t bits = layout_.getTypeSizeInBits(element), all = type->getIntegerBitWidth();
    if (bits >= all || all % bits != 0) return nullptr;
    return llvm::FixedVectorType::get(llvm::IntegerType::get(module_.getContext(), bits),
                                      all / bits);
  }

  void split_load(llvm::LoadInst& load) const {
    auto* type = parts(load.getType(), *load.getPointerOperand());
    if (!type) return;
    Builder builder(load.getParent(), load.getIterator(), llvm::TargetFolder(layout_));
    llvm::Value* whole = llvm::PoisonValue::get(type);
    for (uint64_t i = 0; i < type->getNumElements(); ++i) {
      llvm::Type* element = type->getElementType();
      llvm::Value* place = place_of(builder, load.getPointerOperand(), i, element);
      whole = builder.CreateInsertElement(
          whole, builder.CreateAlignedLoad(element, place, layout_.getABITypeAlign(element)), i);
    }
    load.replaceAllUsesWith(builder.CreateBitCast(whole, load.getType()));
    load.eraseFromParent();
  }

  void split_store(llvm::StoreInst& store) const {
    llvm::Value* whole = store.getValueOperand();
    auto* type = parts(whole->getType(), *store.getPointerOperand());
    if (!type) return;
    Builder builder(store.getParent(), store.getIterator(), llvm::TargetFolder(layout_));
    whole = builder.CreateBitCast(whole, type);
    for (uint64_t i = 0; i < type->getNumElements(); ++i) {
      llvm::Type* element = type->getElementType();
      builder.CreateAlignedStore(builder.CreateExtractElement(whole, i),
                                 place_of(builder, store.getPointerOperand(), i, element),
                                 layout_.getABITypeAlign(element));
    }
    store.eraseFromParent();
  }

  llvm::Module& module_;
  const llvm::DataLayout& layout_;
};

}  // namespace

void split_constants(llvm::Module& module) { Splitter(module).run(); }

}  // namespace metal::compiler
