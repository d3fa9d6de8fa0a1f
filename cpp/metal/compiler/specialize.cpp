#include "metal/compiler/specialize.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/IPO/GlobalOpt.h"
#include "metal/compiler/analyses.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/hardware_math.h"
#include "metal/compiler/kernel_form.h"
#include "metal/compiler/math_calls.h"
#include "metal/compiler/split_constants.h"

namespace metal::compiler {
namespace {

constexpr const char* kDefinedQuery = "__metal_function_constant_defined";

// Replaces is_function_constant_defined(variable). Returns whether the module uses it.
bool resolve_queries(llvm::Module& module, const llvm::GlobalVariable& variable, bool defined) {
  llvm::Function* query = module.getFunction(kDefinedQuery);
  if (!query) return false;
  bool asked = false;
  for (llvm::User* user : llvm::make_early_inc_range(query->users())) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (!call || call->getArgOperand(0)->stripPointerCasts() != &variable) continue;
    call->replaceAllUsesWith(llvm::ConstantInt::get(call->getType(), defined));
    call->eraseFromParent();
    asked = true;
  }
  return asked;
}

llvm::Constant* as_scalar(llvm::Type* type, uint64_t bits) {
  if (type->isFloatingPointTy()) {
    const llvm::APInt raw(type->getPrimitiveSizeInBits(), bits);
    return llvm::ConstantFP::get(type, llvm::APFloat(type->getFltSemantics(), raw));
  }
  return llvm::ConstantInt::get(type, bits);
}

// The library's vectors are classes around a register.
llvm::Constant* as_constant(llvm::Type* type, const ConstantValue& value) {
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    return llvm::ConstantStruct::get(structure, as_constant(structure->getElementType(0), value));
  }
  if (!type->isVectorTy()) return as_scalar(type, value.bits[0]);
  std::vector<llvm::Constant*> components;
  for (uint32_t i = 0; i < value.components; ++i)
    components.push_back(as_scalar(type->getScalarType(), value.bits[i]));
  return llvm::ConstantVector::get(components);
}

// Marks of math calls, which nobody can evaluate, go from initializers and what they call. The
// functions that hardware may have go, too: GlobalOpt does not look into them.
void make_evaluable(llvm::Module& module) {
  llvm::SmallSetVector<llvm::Function*, 8> functions;
  for (llvm::Function* function : initializers(module)) functions.insert(function);
  for (size_t i = 0; i < functions.size(); ++i) {
    inline_hardware_math(*functions[i]);
    for (llvm::Instruction& instruction : llvm::instructions(*functions[i])) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call && call->getCalledFunction()) functions.insert(call->getCalledFunction());
    }
    drop_math_marks(*functions[i]);
  }
}

// GlobalOpt evaluates initializers of scalars without loops. LLVM's optimiser first simplifies the
// others.
void run_initializers(llvm::Module& module) {
  if (initializers(module).empty()) return;
  make_evaluable(module);
  Analyses analyses;
  llvm::GlobalOptPass().run(module, analyses.modules);
  if (initializers(module).empty()) return;
  for (llvm::Function* function : initializers(module)) {
    analyses.builder
        .buildFunctionSimplificationPipeline(llvm::OptimizationLevel::O2,
                                             llvm::ThinOrFullLTOPhase::None)
        .run(*function, analyses.functions);
  }
  analyses.functions.clear();
  analyses.modules.clear();
  split_constants(module);
  llvm::GlobalOptPass().run(module, analyses.modules);
}

using Functions = llvm::SmallPtrSet<const llvm::Function*, 8>;

// The functions that use a constant, directly or in other constants.
Functions functions_with(const llvm::Constant& constant) {
  Functions found;
  llvm::SmallSetVector<const llvm::User*, 8> users(constant.user_begin(), constant.user_end());
  for (size_t i = 0; i < users.size(); ++i) {
    if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(users[i])) {
      found.insert(instruction->getFunction());
    } else {
      users.insert(users[i]->user_begin(), users[i]->user_end());
    }
  }
  return found;
}

// Initializers do not run before a kernel, so a constant that is not computed by now would be 0.
void check_computed(const llvm::Module& module) {
  Functions left;
  for (const llvm::Function* function : initializers(module)) left.insert(function);
  if (left.empty()) return;
  for (const llvm::GlobalVariable& variable : module.globals()) {
    if (variable.isConstant() || variable.isDeclaration()) continue;
    const Functions users = functions_with(variable);
    auto is_left = [&](const llvm::Function* function) { return left.contains(function); };
    if (llvm::any_of(users, is_left) && !llvm::all_of(users, is_left)) {
      throw CompileError("error: the value of '" + llvm::demangle(variable.getName().str()) +
                         "' cannot be computed before the kernel runs\n");
    }
  }
}

}  // namespace

std::vector<llvm::Function*> initializers(const llvm::Module& module) {
  std::vector<llvm::Function*> found;
  const llvm::GlobalVariable* list = module.getGlobalVariable("llvm.global_ctors");
  if (!list || !list->hasInitializer()) return found;
  for (const llvm::Use& record : list->getInitializer()->operands()) {
    auto* function =
        llvm::dyn_cast<llvm::Function>(checked_cast<llvm::User>(record.get())->getOperand(1));
    if (function) found.push_back(function);
  }
  return found;
}

bool needs_value(const llvm::Module& module, const FunctionConstantInfo& constant) {
  const llvm::Function* query = module.getFunction(kDefinedQuery);
  if (!query) return true;
  const llvm::Value* variable = module.getGlobalVariable(constant.name, /*AllowInternal=*/true);
  return llvm::none_of(query->users(), [&](const llvm::User* user) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    return call && call->getArgOperand(0)->stripPointerCasts() == variable;
  });
}

ConstantValues zero_constants(const FunctionInfo& function) {
  ConstantValues zeros;
  for (const FunctionConstantInfo& constant : function.constants)
    zeros[constant.index] = {constant.type, {}, constant.components};
  return zeros;
}

void specialize(llvm::Module& module, const FunctionInfo& function, const ConstantValues& values) {
  for (const FunctionConstantInfo& constant : function.constants) {
    llvm::GlobalVariable* variable =
        module.getGlobalVariable(constant.name, /*AllowInternal=*/true);
    if (!variable || !variable->isDeclaration()) continue;
    const auto value = values.find(constant.index);
    const bool given = value != values.end();
    const bool optional = resolve_queries(module, *variable, given);
    if (given &&
        (value->second.type != constant.type || value->second.components != constant.components)) {
      throw std::invalid_argument("[" + function.name + "] function constant " +
                                  std::to_string(constant.index) + " ('" + constant.name +
                                  "') was given a value of another type than it is declared with");
    }
    if (!given && !optional) {
      throw std::invalid_argument("[" + function.name + "] function constant " +
                                  std::to_string(constant.index) + " ('" + constant.name +
                                  "') needs a value");
    }
    llvm::Type* type = variable->getValueType();
    variable->setInitializer(given ? as_constant(type, value->second)
                                   : llvm::Constant::getNullValue(type));
    variable->setConstant(true);
    variable->setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  run_initializers(module);
  check_computed(module);
}

}  // namespace metal::compiler
