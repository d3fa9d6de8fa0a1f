#include "metal/compiler/math_calls.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "metal/compiler/line_tables.h"

namespace metal::compiler {
namespace {

constexpr const char* kMark = "__metal_math:";
constexpr const char* kMathPrefix = "_ZN5metal6__math";  // of the library's mangled names

bool is_math(const llvm::Function& function) { return function.getName().starts_with(kMathPrefix); }

// "exp" of "metal::__math::exp_by_mode(float)".
std::string source_name(const llvm::Function& function) {
  std::string name = llvm::demangle(function.getName().str());
  name.erase(std::min(name.find('('), name.size()));
  if (const size_t scope = name.rfind("::"); scope != std::string::npos) name.erase(0, scope + 2);
  for (const char* suffix : {"_by_mode", "_to_odd"}) {
    if (name.ends_with(suffix)) name.erase(name.rfind(suffix));
  }
  if (name.starts_with("fast_") || name.starts_with("half_")) name.erase(0, 5);
  return name;
}

// Others have no values that could be shown.
bool takes_and_gives_floats(const llvm::CallInst& call) {
  return call.getType()->isFloatTy() && !call.arg_empty() &&
         llvm::all_of(call.args(), [](const llvm::Use& operand) {
           return operand->getType()->isFloatTy() || operand->getType()->isIntegerTy(32);
         });
}

void mark(llvm::CallInst& call) {
  llvm::IRBuilder<> b(call.getNextNode());
  b.SetCurrentDebugLocation(call.getDebugLoc());
  llvm::SmallVector<llvm::Value*> operands = {&call};
  for (llvm::Value* operand : call.args()) {
    if (operand->getType()->isFloatTy()) operands.push_back(operand);
  }
  const llvm::SmallVector<llvm::Type*> types(operands.size(), call.getType());
  auto callee = call.getModule()->getOrInsertFunction(
      kMark + source_name(*call.getCalledFunction()) + ":" + std::to_string(types.size()),
      llvm::FunctionType::get(call.getType(), types, /*isVarArg=*/false));
  llvm::CallInst* result = b.CreateCall(callee, operands);
  result->setDoesNotAccessMemory();
  result->setDoesNotThrow();
  result->addFnAttr(llvm::Attribute::WillReturn);
  call.replaceUsesWithIf(result, [&](llvm::Use& use) { return use.getUser() != result; });
}

}  // namespace

void mark_math_calls(llvm::Module& module) {
  llvm::SmallVector<llvm::CallInst*> calls;
  for (llvm::Function& function : module) {
    if (is_math(function)) continue;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      if (callee && is_math(*callee) && takes_and_gives_floats(*call)) calls.push_back(call);
    }
  }
  for (llvm::CallInst* call : calls) mark(*call);
}

void drop_math_marks(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (!is_math_mark(instruction)) continue;
    instruction.replaceAllUsesWith(instruction.getOperand(0));
    instruction.eraseFromParent();
  }
}

bool is_math_mark(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName().starts_with(kMark);
}

std::string marked_function(const llvm::CallInst& mark) {
  return mark.getCalledFunction()->getName().split(':').second.split(':').first.str();
}

bool is_inside_math(const llvm::DILocation* location) {
  const llvm::DILocation* user = user_location(location);
  for (; location && location != user; location = location->getInlinedAt()) {
    const llvm::StringRef file = location->getFilename();
    if (llvm::sys::path::filename(file) == "metal_math" ||
        llvm::sys::path::filename(llvm::sys::path::parent_path(file)) == "detail")
      return true;
  }
  return false;
}

}  // namespace metal::compiler
