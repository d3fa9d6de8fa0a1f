// Replaces kernel form's address spaces by those of the GPU in all types of a module.
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cuda/lower.h"

namespace metal::cuda {
namespace {

constexpr auto kConstant = static_cast<unsigned>(AddressSpace::Constant);
constexpr unsigned kAnywhere = 4;  // `__metal_generic` of the standard library

class TypeMap : public llvm::ValueMapTypeRemapper {
 public:
  explicit TypeMap(unsigned constants) : constants_(constants) {}

  llvm::Type* remapType(llvm::Type* type) override {
    llvm::Type*& mapped = types_[type];
    if (!mapped) {
      llvm::Type* result = map(type);
      types_[type] = result;
      return result;
    }
    return mapped;
  }

 private:
  unsigned space(unsigned from) const {
    if (from == kConstant) return constants_;
    return from == kAnywhere ? 0 : from;
  }

  llvm::Type* map(llvm::Type* type) {
    if (auto* pointer = llvm::dyn_cast<llvm::PointerType>(type))
      return llvm::PointerType::get(type->getContext(), space(pointer->getAddressSpace()));
    if (type->getNumContainedTypes() == 0) return type;
    std::vector<llvm::Type*> parts;
    bool same = true;
    for (llvm::Type* part : type->subtypes()) {
      parts.push_back(remapType(part));
      same &= parts.back() == part;
    }
    return same ? type : with_parts(type, parts);
  }

  static llvm::Type* with_parts(llvm::Type* type, llvm::ArrayRef<llvm::Type*> parts) {
    if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type))
      return llvm::ArrayType::get(parts[0], array->getNumElements());
    if (auto* vector = llvm::dyn_cast<llvm::VectorType>(type))
      return llvm::VectorType::get(parts[0], vector->getElementCount());
    if (auto* function = llvm::dyn_cast<llvm::FunctionType>(type))
      return llvm::FunctionType::get(parts[0], parts.drop_front(), function->isVarArg());
    return llvm::StructType::get(type->getContext(), parts,
                                 checked_cast<llvm::StructType>(type)->isPacked());
  }

  const unsigned constants_;
  llvm::DenseMap<llvm::Type*, llvm::Type*> types_;
};

class ModuleMapping {
 public:
  ModuleMapping(llvm::Module& module, unsigned constants) : module_(module), types_(constants) {}

  void run() {
    expand_constants();
    map_variables();
    map_functions();
    for (llvm::GlobalVariable* variable : old_variables_) variable->eraseFromParent();
  }

 private:
  // Turns constant expressions into instructions, so that casts without effect can be removed.
  void expand_constants() {
    llvm::SmallVector<llvm::Constant*> variables;
    for (llvm::GlobalVariable& variable : module_.globals()) variables.push_back(&variable);
    llvm::convertUsersOfConstantsToInstructions(variables);
  }

  void map_variables() {
    for (llvm::GlobalVariable& variable : module_.globals()) {
      if (types_.remapType(variable.getType()) != variable.getType() ||
          types_.remapType(variable.getValueType()) != variable.getValueType())
        old_variables_.push_back(&variable);
    }
    std::vector<llvm::GlobalVariable*> variables;
    for (llvm::GlobalVariable* old : old_variables_) {
      llvm::Type* pointer = types_.remapType(old->getType());
      // No variable is in generic memory.
      const unsigned space = pointer->getPointerAddressSpace() == 0
                                 ? static_cast<unsigned>(kGlobal)
                                 : pointer->getPointerAddressSpace();
      auto* variable = new llvm::GlobalVariable(module_, types_.remapType(old->getValueType()),
                                                old->isConstant(), old->getLinkage(), nullptr, "",
                                                old, llvm::GlobalValue::NotThreadLocal, space);
      variable->copyAttributesFrom(old);
      variable->takeName(old);
      variables.push_back(variable);
      values_[old] = llvm::ConstantExpr::getPointerBitCastOrAddrSpaceCast(variable, pointer);
    }
    for (auto [old, variable] : llvm::zip(old_variables_, variables)) {
      if (!old->hasInitializer()) continue;
      variable->setInitializer(
          llvm::MapValue(old->getInitializer(), values_, llvm::RF_None, &types_));
    }
  }

  void map_functions() {
    std::vector<llvm::Function*> olds;
    for (llvm::Function& function : module_) {
      if (!function.isDeclaration()) olds.push_back(&function);
    }
    for (llvm::Function* old : olds) {
      auto* type = checked_cast<llvm::FunctionType>(types_.remapType(old->getFunctionType()));
      auto* function = llvm::Function::Create(type, old->getLinkage(), "", module_);
      function->takeName(old);
      values_[old] = function;
      for (auto [from, to] : llvm::zip(old->args(), function->args())) {
        to.setName(from.getName());
        values_[&from] = &to;
      }
    }
    for (llvm::Function* old : olds) {
      auto* function = checked_cast<llvm::Function>(values_[old]);
      llvm::SmallVector<llvm::ReturnInst*> returns;
      llvm::CloneFunctionInto(function, old, values_, llvm::CloneFunctionChangeType::GlobalChanges,
                              returns, "", nullptr, &types_);
      tidy(*function);
    }
    for (llvm::Function* old : olds) {
      old->replaceAllUsesWith(values_[old]);
      old->eraseFromParent();
    }
  }

  // Declares intrinsics for the new types and removes casts between equal types.
  void tidy(llvm::Function& function) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
        // getCalledFunction() would fail, as the types of the call and the declaration may differ.
        const auto* callee = llvm::dyn_cast<llvm::Function>(call->getCalledOperand());
        if (!callee || !callee->isIntrinsic()) continue;
        llvm::SmallVector<llvm::Type*> types;
        if (llvm::Intrinsic::getIntrinsicSignature(callee->getIntrinsicID(),
                                                   call->getFunctionType(), types)) {
          call->setCalledFunction(
              llvm::Intrinsic::getDeclaration(&module_, callee->getIntrinsicID(), types));
        }
      } else if (auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(&instruction)) {
        if (cast->getSrcTy() != cast->getDestTy()) continue;
        cast->replaceAllUsesWith(cast->getOperand(0));
        cast->eraseFromParent();
      }
    }
  }

  llvm::Module& module_;
  TypeMap types_;
  llvm::ValueToValueMapTy values_;
  std::vector<llvm::GlobalVariable*> old_variables_;
};

void mark_constant_loads(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (!load || load->getPointerAddressSpace() != kConstant || load->isVolatile()) continue;
      load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                        llvm::MDNode::get(module.getContext(), {}));
    }
  }
}

}  // namespace

void map_address_spaces(llvm::Module& module, const LaunchForm& form) {
  mark_constant_loads(module);
  // Values lie in memory for parameters, other constants in global memory. LLVM finds out which.
  ModuleMapping(module, form.by_value ? 0 : kGlobal).run();
}

}  // namespace metal::cuda
