#include "metal/compiler/kernel_form.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/InferAddressSpaces.h"
#include "llvm/Transforms/Scalar/LowerExpectIntrinsic.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "metal/compiler/analyses.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/front_end.h"
#include "metal/compiler/hardware_math.h"
#include "metal/compiler/ir_text.h"
#include "metal/compiler/line_tables.h"
#include "metal/compiler/mark_lines.h"
#include "metal/compiler/mark_stops.h"
#include "metal/compiler/math_calls.h"
#include "metal/compiler/matrix_calls.h"
#include "metal/compiler/passes.h"
#include "metal/compiler/undefined_variables.h"
#include "metal/compiler/verify.h"

namespace metal::compiler {
namespace {

constexpr unsigned kGenericAddressSpace = 4;

// Metal's attributes have been read from the AST, so the IR needs them no more.
void remove_annotations(llvm::Module& module) {
  if (auto* annotations = module.getGlobalVariable("llvm.global.annotations"))
    annotations->eraseFromParent();
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (call && call->getIntrinsicID() == llvm::Intrinsic::var_annotation)
        call->eraseFromParent();
    }
  }
}

// A function that returns an object writes it to a pointer to `thread`. Clang passes it constants
// that are initialized by a call, without a cast. The code is not valid until it has one.
void cast_results(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (!call || !call->hasStructRetAttr()) continue;
      llvm::Type* type = call->getFunctionType()->getParamType(0);
      if (call->getArgOperand(0)->getType() == type) continue;
      llvm::IRBuilder<> builder(call);
      call->setArgOperand(0, builder.CreateAddrSpaceCast(call->getArgOperand(0), type));
    }
  }
}

// The constructor that Clang makes for a class takes a generic pointer. It passes it as it is to
// constructors of members and bases, which take pointers to `thread`: what it emits is no valid
// code.
void cast_members(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction);
      if (!cast ||
          llvm::CastInst::castIsValid(cast->getOpcode(), cast->getSrcTy(), cast->getDestTy()))
        continue;
      llvm::IRBuilder<> builder(cast);
      cast->replaceAllUsesWith(builder.CreateAddrSpaceCast(cast->getOperand(0), cast->getType()));
      cast->eraseFromParent();
    }
  }
}

void read_annotations(FormContext& c) {
  c.zeroed = find_zeroed(*c.unit.module);
  remove_annotations(*c.unit.module);
}

// Makes an entry that calls the function of `declaration` in Clang's own calling convention.
class EntryBuilder {
 public:
  EntryBuilder(llvm::Module& module, const KernelDeclaration& declaration)
      : module_(module),
        declaration_(declaration),
        callee_(module.getFunction(declaration.symbol)),
        builder_(module.getContext()) {}

  llvm::Function* build() {
    std::vector<llvm::Type*> types;
    for (const KernelArgument& argument : declaration_.arguments) {
      if (argument.info.kind == ArgumentKind::Attribute) continue;
      types.push_back(builder_.getPtrTy(static_cast<unsigned>(argument.info.address_space)));
    }
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), types, false);
    auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "", module_);
    entry->setAttributes(
        callee_->getAttributes().getFnAttrs().hasAttributes()
            ? llvm::AttributeList().addFnAttributes(
                  module_.getContext(),
                  llvm::AttrBuilder(module_.getContext(), callee_->getAttributes().getFnAttrs()))
            : llvm::AttributeList());
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", entry));
    unsigned pointer = 0;
    unsigned part_of_array = 0;  // the arguments that belong to the last array of buffers
    for (const KernelArgument& argument : declaration_.arguments) {
      if (argument.info.kind == ArgumentKind::Attribute) {
        pass_builtin(argument);
        continue;
      }
      entry->getArg(pointer)->setName(argument.info.name);
      if (argument.array_elements > 0) {
        pass_array(*entry, pointer, argument);
        part_of_array = argument.array_elements;
      }
      if (part_of_array > 0) {
        --part_of_array;
      } else {
        operands_.push_back(entry->getArg(pointer));
      }
      ++pointer;
    }
    llvm::CallInst* call = builder_.CreateCall(callee_, operands_);
    call->setAttributes(callee_->getAttributes());
    if (callee_->getSubprogram()) place(*entry, *call);
    builder_.CreateRetVoid();
    callee_->setLinkage(llvm::Function::InternalLinkage);
    callee_->setComdat(nullptr);
    return entry;
  }

 private:
  // Gives the entry the source line of the kernel.
  void place(llvm::Function& entry, llvm::CallInst& call) {
    const llvm::DISubprogram* kernel = callee_->getSubprogram();
    llvm::DIBuilder lines(module_, /*AllowUnresolved=*/true, kernel->getUnit());
    auto* place = lines.createFunction(
        kernel->getFile(), declaration_.name, "", kernel->getFile(), kernel->getLine(),
        lines.createSubroutineType(lines.getOrCreateTypeArray({})), kernel->getLine(),
        llvm::DINode::FlagArtificial, llvm::DISubprogram::SPFlagDefinition);
    lines.finalizeSubprogram(place);
    entry.setSubprogram(place);
    call.setDebugLoc(llvm::DILocation::get(module_.getContext(), kernel->getLine(), 0, place));
  }

  llvm::Value* component(const BuiltinType& type, const std::string& attribute, uint32_t index) {
    auto* getter = checked_cast<llvm::Function>(
        module_
            .getOrInsertFunction(
                std::string(kBuiltinPrefix) + attribute,
                llvm::FunctionType::get(builder_.getInt32Ty(), {builder_.getInt32Ty()}, false))
            .getCallee());
    getter->setDoesNotAccessMemory();
    getter->setDoesNotThrow();
    getter->setWillReturn();
    llvm::Value* value = builder_.CreateCall(getter, {builder_.getInt32(index)});
    return type.element_bytes == 2 ? builder_.CreateTrunc(value, builder_.getInt16Ty()) : value;
  }

  void pass_builtin(const KernelArgument& argument) {
    const BuiltinType& type = argument.builtin;
    if (type.components == 1) {
      llvm::Value* value = component(type, argument.info.attribute, 0);
      llvm::Type* expected = callee_->getArg(operands_.size())->getType();
      operands_.push_back(expected->isPointerTy() ? spill(value)
                                                  : builder_.CreateZExtOrTrunc(value, expected));
      return;
    }
    llvm::Type* element = type.element_bytes == 2 ? builder_.getInt16Ty() : builder_.getInt32Ty();
    llvm::AllocaInst* memory =
        builder_.CreateAlloca(llvm::ArrayType::get(builder_.getInt8Ty(), 16));
    memory->setAlignment(llvm::Align(16));
    for (uint32_t i = 0; i < type.components; ++i) {
      builder_.CreateStore(component(type, argument.info.attribute, i),
                           builder_.CreateConstGEP1_32(element, memory, i));
    }
    pass_from(memory, argument.bytes);
  }

  // An array of buffers is one object for the kernel.
  void pass_array(llvm::Function& entry, unsigned first, const KernelArgument& argument) {
    llvm::Type* element = entry.getArg(first)->getType();
    llvm::AllocaInst* memory =
        builder_.CreateAlloca(llvm::ArrayType::get(element, argument.array_elements));
    for (uint32_t i = 0; i < argument.array_elements; ++i) {
      builder_.CreateStore(entry.getArg(first + i),
                           builder_.CreateConstGEP1_32(element, memory, i));
    }
    pass_from(memory, argument.bytes);
  }

  // Clang chooses registers for objects of small classes. They are read from memory as the expected
  // types.
  void pass_from(llvm::AllocaInst* memory, uint32_t bytes) {
    for (uint32_t offset = 0; offset < bytes;) {
      llvm::Type* expected = callee_->getArg(operands_.size())->getType();
      if (expected->isPointerTy()) {
        operands_.push_back(memory);
        break;
      }
      operands_.push_back(builder_.CreateLoad(
          expected, builder_.CreateConstGEP1_32(builder_.getInt8Ty(), memory, offset)));
      offset += module_.getDataLayout().getTypeAllocSize(expected);
    }
  }

  llvm::Value* spill(llvm::Value* value) {
    llvm::AllocaInst* memory = builder_.CreateAlloca(value->getType());
    builder_.CreateStore(value, memory);
    return memory;
  }

  llvm::Module& module_;
  const KernelDeclaration& declaration_;
  llvm::Function* callee_;
  llvm::IRBuilder<> builder_;
  std::vector<llvm::Value*> operands_;
};

void make_entries(TranslationUnit& unit) {
  std::vector<std::pair<llvm::Function*, const KernelDeclaration*>> entries;
  for (const KernelDeclaration& declaration : unit.kernels) {
    if (!unit.module->getFunction(declaration.symbol)) continue;
    entries.emplace_back(EntryBuilder(*unit.module, declaration).build(), &declaration);
  }
  for (auto& [entry, declaration] : entries) {
    if (llvm::Function* other = unit.module->getFunction(declaration->name);
        other && other != entry) {
      other->setName(declaration->name + ".body");
    }
    entry->setName(declaration->name);
  }
}

void clear_all_zeroed(FormContext& c) {
  for (const KernelDeclaration& kernel : c.unit.kernels) {
    if (llvm::Function* entry = c.unit.module->getFunction(kernel.name))
      clear_zeroed(*entry, c.zeroed);
  }
}

// The sizes of functions after inlining. Callees must be added before their callers.
class InlinedSizes {
 public:
  // Throws if the function is too large for later passes.
  void add(const llvm::Function& function) {
    uint64_t size = function.getInstructionCount();
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      const auto found = call ? sizes_.find(call->getCalledFunction()) : sizes_.end();
      if (found != sizes_.end()) size += found->second;
    }
    if (size > kMaxInstructions) {
      throw CompileError("error: function '" + llvm::demangle(function.getName().str()) +
                         "' is too large with all that it calls: more than " +
                         std::to_string(kMaxInstructions) + " instructions\n");
    }
    sizes_[&function] = size;
  }

 private:
  static constexpr uint64_t kMaxInstructions = 1000000;
  llvm::DenseMap<const llvm::Function*, uint64_t> sizes_;
};

// Joins blocks that always run one after the other. SimplifyCFG also removes empty blocks, in which
// SROA would read what a chosen address points to: then callers' variables would stay in memory.
void join_blocks(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    for (llvm::BasicBlock& block : function) llvm::ConstantFoldTerminator(&block);
    llvm::removeUnreachableBlocks(function);
    for (llvm::BasicBlock& block : llvm::make_early_inc_range(function))
      llvm::MergeBlockIntoPredecessor(&block);
  }
}

// Makes all functions but kernels internal, and inlines those that do not call themselves.
void internalize_and_inline(TranslationUnit& unit, llvm::ModuleAnalysisManager& analyses) {
  llvm::Module& module = *unit.module;
  llvm::SmallPtrSet<const llvm::Function*, 8> entries;
  for (const KernelDeclaration& kernel : unit.kernels)
    entries.insert(module.getFunction(kernel.name));
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (variable.isDeclaration() || variable.hasAppendingLinkage()) continue;
    variable.setLinkage(llvm::GlobalValue::InternalLinkage);
    variable.setComdat(nullptr);
  }
  llvm::CallGraph graph(module);
  InlinedSizes sizes;
  for (auto component = llvm::scc_begin(&graph); !component.isAtEnd(); ++component) {
    const bool recursive = component.hasCycle();
    for (llvm::CallGraphNode* node : *component) {
      llvm::Function* function = node->getFunction();
      if (!function || function->isDeclaration()) continue;
      if (!recursive) sizes.add(*function);
      if (entries.contains(function)) continue;
      function->setLinkage(llvm::GlobalValue::InternalLinkage);
      function->setComdat(nullptr);
      function->removeFnAttr(llvm::Attribute::NoInline);
      function->removeFnAttr(llvm::Attribute::OptimizeNone);
      if (is_matrix_access(*function)) {
        keep_matrix_access(*function);
      } else if (is_hardware_math(*function)) {
        keep_hardware_math(*function);
      } else if (!recursive) {
        function->addFnAttr(llvm::Attribute::AlwaysInline);
      }
    }
  }
  // A function is cleaned up once here, not in each of its copies: what SROA does for a variable
  // takes the longer, the more blocks there are around it.
  if (!unit.keeps_branches) join_blocks(module);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(
      llvm::createModuleToFunctionPassAdaptor(llvm::SROAPass(llvm::SROAOptions::PreserveCFG)));
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/true));
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, analyses);
}

void mark_covered_lines(TranslationUnit& unit) {
  if (unit.marks_lines) mark_lines(*unit.module);
}

void mark_all_stops(TranslationUnit& unit) {
  if (unit.marks_stops) mark_stops(*unit.module);
}

void mark_math(TranslationUnit& unit) {
  if (unit.marks_math) mark_math_calls(*unit.module);
}

void clean_up(llvm::Module& module, llvm::ModuleAnalysisManager& analyses, bool keeps_branches) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LowerExpectIntrinsicPass());
  passes.addPass(llvm::SROAPass(keeps_branches ? llvm::SROAOptions::PreserveCFG
                                               : llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InferAddressSpacesPass(kGenericAddressSpace));
  if (!keeps_branches) passes.addPass(llvm::SimplifyCFGPass());
  if (!keeps_branches) passes.addPass(llvm::InstCombinePass());
  llvm::ModulePassManager all;
  all.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  all.addPass(llvm::GlobalDCEPass());
  all.run(module, analyses);
  if (!reveal_known_ways(module)) return;
  analyses.invalidate(module, llvm::PreservedAnalyses::none());
  all.run(module, analyses);
}

// Replaces the standard library's queries for the math mode. Clang has marked each function with
// its mode.
void resolve_math_mode(llvm::Module& module) {
  llvm::Function* question = module.getFunction("__metal_fast_math");
  if (!question) return;
  for (llvm::User* user : llvm::make_early_inc_range(question->users())) {
    auto* call = checked_cast<llvm::CallInst>(user);
    const bool fast = call->getFunction()->getFnAttribute("no-nans-fp-math").getValueAsBool();
    call->replaceAllUsesWith(llvm::ConstantInt::getBool(call->getType(), fast));
    call->eraseFromParent();
  }
  question->eraseFromParent();
}

// Clang gives calls, selects, phis and negations the flags of the whole source's math mode, also
// where `float_control(precise, on)` has another one: the math library would lose its rounding. It
// marks functions that have such code. That there are no NaNs and infinities stays.
void keep_precise(llvm::Module& module) {
  const auto is = [](const llvm::Function& function, const char* attribute, const char* value) {
    return function.getFnAttribute(attribute).getValueAsString() == value;
  };
  for (llvm::Function& function : module) {
    if (!is(function, "approx-func-fp-math", "true") ||
        !is(function, "no-signed-zeros-fp-math", "false"))
      continue;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!llvm::isa<llvm::FPMathOperator>(instruction) ||
          llvm::isa<llvm::BinaryOperator, llvm::CmpInst>(instruction))
        continue;
      instruction.setHasAllowReassoc(false);
      instruction.setHasAllowContract(false);
      instruction.setHasAllowReciprocal(false);
      instruction.setHasApproxFunc(false);
    }
  }
}

void check_symbols(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    if (!function.isDeclaration() || function.isIntrinsic() || function.use_empty()) continue;
    if (function.getName().starts_with(kRuntimePrefix) || function.getName() == kWay) continue;
    throw CompileError("error: function '" + llvm::demangle(function.getName().str()) +
                       "' is declared but not defined\n");
  }
}

}  // namespace

void to_kernel_form(TranslationUnit& unit) {
  llvm::Module& code = *unit.module;
  FormContext c{.unit = unit};
#define FORM_PASS(name, action) \
  action;                       \
  verify(code, name);
#include "metal/compiler/passes.def"
}

bool run_pass(llvm::StringRef wanted, FormContext& c) {
  llvm::Module& code = *c.unit.module;
#define FORM_PASS(name, action) \
  if (wanted == (name)) return action, true;
#define OTHER_PASS FORM_PASS
#include "metal/compiler/passes.def"
  return false;
}

}  // namespace metal::compiler
