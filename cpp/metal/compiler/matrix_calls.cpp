#include "metal/compiler/matrix_calls.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/kernel_form.h"

namespace metal::compiler {
namespace {

bool loads_matrix(const llvm::Function& function) {
  llvm::StringRef name = function.getName();
  return name.consume_front(kRuntimePrefix) && name.starts_with("simdgroup_load_");
}

bool stores_matrix(const llvm::Function& function) {
  llvm::StringRef name = function.getName();
  return name.consume_front(kRuntimePrefix) && name.starts_with("simdgroup_store_");
}

// The function has a single block.
MatrixAccess inline_access(llvm::CallInst& call) {
  MatrixAccess access{.arguments = {call.arg_begin(), call.arg_end()}, .elements = {}};
  llvm::BasicBlock& block = *call.getParent();
  llvm::Instruction* before = call.getPrevNode();
  llvm::Instruction* behind = call.getNextNode();
  llvm::InlineFunctionInfo info;
  llvm::InlineFunction(call, info);
  llvm::Instruction* first = before ? before->getNextNode() : &block.front();
  for (llvm::Instruction* next = first; next != behind; next = next->getNextNode()) {
    if (llvm::isa<llvm::LoadInst, llvm::StoreInst>(next)) access.elements.push_back(next);
  }
  return access;
}

}  // namespace

bool is_matrix_product(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName() == kMatrixProduct;
}

bool is_matrix_access(const llvm::Function& function) {
  return loads_matrix(function) || stores_matrix(function);
}

bool is_matrix_access(const llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  return callee && is_matrix_access(*callee);
}

void keep_matrix_access(llvm::Function& function) {
  function.removeFnAttr(llvm::Attribute::AlwaysInline);
  function.addFnAttr(llvm::Attribute::NoInline);
  function.addFnAttr(llvm::Attribute::NoUnwind);
  function.addFnAttr(llvm::Attribute::WillReturn);
  function.addFnAttr(llvm::Attribute::NoSync);
  function.addFnAttr(llvm::Attribute::NoFree);
  function.addParamAttr(kMatrixPointer, llvm::Attribute::NoCapture);
  function.setMemoryEffects(llvm::MemoryEffects::argMemOnly(
      loads_matrix(function) ? llvm::ModRefInfo::Ref : llvm::ModRefInfo::Mod));
}

std::vector<MatrixAccess> inline_matrix_accesses(
    llvm::Module& module, llvm::function_ref<bool(const llvm::Function&)> keep) {
  std::vector<MatrixAccess> accesses;
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (!is_matrix_access(function) || function.isDeclaration()) continue;
    if (keep && keep(function)) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users()))
      accesses.push_back(inline_access(*checked_cast<llvm::CallInst>(user)));
    function.eraseFromParent();
  }
  return accesses;
}

}  // namespace metal::compiler
