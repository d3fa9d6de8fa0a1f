#include "metal/compiler/mark_stops.h"

#include <optional>
#include <string>

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/compiler.h"
#include "metal/compiler/line_tables.h"
#include "metal/compiler/mark_lines.h"
#include "metal/compiler/type_descriptions.h"

namespace metal::compiler {
namespace {

using llvm::json::Array;
using llvm::json::Object;

struct Variable {
  const llvm::DIVariable* variable;
  llvm::Value* address;
  llvm::Instruction* declared;  // before it; null for what is there when the function begins
  bool indirect;                // there is a pointer to the variable
};

// Without the scopes that only tell that code comes from another file.
const llvm::DIScope* block_of(const llvm::DIScope* scope) {
  const auto* local = llvm::dyn_cast_or_null<llvm::DILocalScope>(scope);
  return local ? local->getNonLexicalBlockFileScope() : scope;
}

// Whether code of the inner scope sees what the outer one declares.
bool is_inside(const llvm::DIScope* inner, const llvm::DIScope* outer) {
  outer = block_of(outer);
  for (inner = block_of(inner); inner; inner = block_of(inner->getScope())) {
    if (inner == outer) return true;
    if (llvm::isa<llvm::DISubprogram>(inner)) return false;
  }
  return false;
}

// Whether a pointer to the variable is there, not the variable; nothing for what is more complex.
std::optional<bool> dereferences(const llvm::DIExpression& expression) {
  namespace dwarf = llvm::dwarf;
  llvm::ArrayRef<uint64_t> operations = expression.getElements();
  constexpr size_t kSpace = 4;  // operations that name the address space
  if (operations.size() >= kSpace && operations.back() == dwarf::DW_OP_xderef)
    operations = operations.drop_back(kSpace);
  if (operations.empty()) return false;
  if (operations.size() == 1 && operations.front() == dwarf::DW_OP_deref) return true;
  return std::nullopt;
}

class StopMarker {
 public:
  explicit StopMarker(llvm::Function& function)
      : function_(function), module_(*function.getParent()), b_(function.getContext()) {}

  void run() {
    find_variables();
    find_globals();
    declare_variables();  // before marks are erased, which may be where variables are declared
    const auto place_of = [](const llvm::Instruction& i) { return i.getDebugLoc().get(); };
    Array sites;
    for (llvm::Instruction& mark : llvm::make_early_inc_range(llvm::instructions(function_))) {
      if (!is_line_mark(mark)) continue;
      b_.SetInsertPoint(&mark);  // at the same place of the source
      call(kDebugLine, {b_.getInt32(sites.size())});
      sites.push_back(describe_site(*place_of(mark)));
      mark.eraseFromParent();
    }
    for (llvm::BasicBlock& block : function_) {
      auto* leave = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator());
      if (!leave) continue;
      b_.SetInsertPoint(leave);
      call(kDebugLeave, {});
    }
    begin(std::move(sites));
  }

 private:
  void call(const char* name, llvm::ArrayRef<llvm::Value*> arguments) {
    llvm::SmallVector<llvm::Type*> types;
    for (const llvm::Value* argument : arguments) types.push_back(argument->getType());
    b_.CreateCall(module_.getOrInsertFunction(
                      name, llvm::FunctionType::get(b_.getVoidTy(), types, /*isVarArg=*/false)),
                  arguments)
        ->setDoesNotThrow();
  }

  void find_variables() {
    for (llvm::Instruction& instruction : llvm::instructions(function_)) {
      for (llvm::DbgVariableRecord& record : llvm::filterDbgVars(instruction.getDbgRecordRange())) {
        const auto indirect = dereferences(*record.getExpression());
        if (!record.isDbgDeclare() || !indirect) continue;
        llvm::Value* address = record.getAddress();
        if (!address || !address->getType()->isPointerTy()) continue;
        variables_.push_back({record.getVariable(), address, &instruction, *indirect});
      }
    }
  }

  // Of threadgroup memory those that the function declares, of constant memory the user's.
  void find_globals() {
    for (llvm::GlobalVariable& global : module_.globals()) {
      llvm::SmallVector<llvm::DIGlobalVariableExpression*, 1> found;
      global.getDebugInfo(found);
      if (found.empty() || global.isDeclaration()) continue;
      const llvm::DIGlobalVariable* variable = found.front()->getVariable();
      const bool local = llvm::isa_and_nonnull<llvm::DILocalScope>(variable->getScope());
      if (local ? is_inside(variable->getScope(), function_.getSubprogram())
                : is_users(variable->getFile(), variable->getLine()))
        variables_.push_back({variable, &global, nullptr, false});
    }
  }

  bool is_users(llvm::DIFile* file, unsigned line) const {
    if (!file) return false;
    auto* block =
        llvm::DILexicalBlockFile::get(function_.getContext(), function_.getSubprogram(), file, 0);
    const auto* place = llvm::DILocation::get(function_.getContext(), line, 0, block);
    return user_location(place) == place;
  }

  Object describe_site(const llvm::DILocation& place) const {
    Array visible;
    for (size_t i = 0; i < variables_.size(); ++i) {
      const auto& [variable, address, declared, indirect] = variables_[i];
      const bool local = llvm::isa_and_nonnull<llvm::DILocalScope>(variable->getScope());
      if (!local || is_inside(place.getScope(), variable->getScope())) visible.push_back(i);
    }
    return Object{{"file", llvm::json::fixUTF8(place.getFilename())},
                  {"line", place.getLine()},
                  {"variables", std::move(visible)}};
  }

  void declare_variables() {
    for (size_t i = 0; i < variables_.size(); ++i) {
      if (!variables_[i].declared) continue;
      b_.SetInsertPoint(variables_[i].declared);
      declare(i);
    }
  }

  void declare(size_t number) {
    call(kDebugVariable, {b_.getInt32(static_cast<uint32_t>(number)),
                          b_.CreatePtrToInt(variables_[number].address, b_.getInt64Ty())});
  }

  void begin(Array sites) {
    b_.SetInsertPoint(function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    b_.SetCurrentDebugLocation({});
    llvm::Constant* text = description(std::move(sites));
    call(kDebugEnter, {text});
    for (size_t i = 0; i < variables_.size(); ++i)
      if (!variables_[i].declared) declare(i);
  }

  llvm::Constant* description(Array sites) {
    TypeDescriptions types;
    Array variables;
    for (const auto& [variable, address, declared, indirect] : variables_) {
      const auto* local = llvm::dyn_cast<llvm::DILocalVariable>(variable);
      variables.push_back(Object{{"name", llvm::json::fixUTF8(variable->getName())},
                                 {"type", types.add(variable->getType())},
                                 {"line", variable->getLine()},
                                 {"argument", local && local->isParameter()},
                                 {"global", !local},
                                 {"indirect", indirect}});
    }
    const llvm::DISubprogram& subprogram = *function_.getSubprogram();
    std::string text;
    llvm::raw_string_ostream(text)
        << llvm::json::Value(Object{{"name", llvm::json::fixUTF8(subprogram.getName())},
                                    {"sites", std::move(sites)},
                                    {"variables", std::move(variables)},
                                    {"types", types.take()}});
    llvm::Constant* value = llvm::ConstantDataArray::getString(function_.getContext(), text);
    return new llvm::GlobalVariable(module_, value->getType(), /*isConstant=*/true,
                                    llvm::GlobalValue::InternalLinkage, value, "debug.function");
  }

  llvm::Function& function_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  std::vector<Variable> variables_;
};

bool has_lines(llvm::Function& function) {
  return function.getSubprogram() && llvm::any_of(llvm::instructions(function), is_line_mark);
}

}  // namespace

void mark_stops(llvm::Module& module) {
  module.setIsNewDbgInfoFormat(true);
  std::vector<llvm::Function*> functions;
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && has_lines(function)) functions.push_back(&function);
  for (llvm::Function* function : functions) StopMarker(*function).run();
  llvm::stripNonLineTableDebugInfo(module);
}

}  // namespace metal::compiler
