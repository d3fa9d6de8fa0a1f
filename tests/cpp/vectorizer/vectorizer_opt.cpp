// Runs one pass of the vectoriser on the functions of an LLVM module, from standard input to
// standard output: vectorizer_opt PASS [LANES [PROCESSOR]].
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/codegen/optimizer.h"
#include "metal/cpu/vectorizer/control/assume_coherent.h"
#include "metal/cpu/vectorizer/control/linearize.h"
#include "metal/cpu/vectorizer/control/regions.h"
#include "metal/cpu/vectorizer/control/split_at_barriers.h"
#include "metal/cpu/vectorizer/legalize/legalize_masks.h"
#include "metal/cpu/vectorizer/legalize/select_addresses.h"
#include "metal/cpu/vectorizer/matrix/join_products.h"
#include "metal/cpu/vectorizer/matrix/loop_memory.h"
#include "metal/cpu/vectorizer/memory/block_operations.h"
#include "metal/cpu/vectorizer/memory/constant_offsets.h"
#include "metal/cpu/vectorizer/memory/float_atomics.h"
#include "metal/cpu/vectorizer/memory/nontemporal_stores.h"
#include "metal/cpu/vectorizer/memory/private_memory.h"
#include "metal/cpu/vectorizer/memory/unroll_private.h"
#include "metal/cpu/vectorizer/prefetch/prefetch_slice.h"
#include "metal/cpu/vectorizer/prefetch/prefetch_streams.h"
#include "metal/cpu/vectorizer/prepare.h"
#include "metal/cpu/vectorizer/wide_entry.h"
#include "metal/cpu/vectorizer/widen/widen.h"

namespace {

using namespace metal::cpu;

std::unique_ptr<llvm::TargetMachine> create_target(const char* processor) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  const std::string triple = llvm::sys::getProcessTriple();
  const bool is_x86 = llvm::Triple(triple).isX86();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, is_x86 ? processor : "", "", {}, llvm::Reloc::PIC_, llvm::CodeModel::Small));
}

// What a body's arguments are in a row of threads, by their names; others are uniform, and those
// that start with "v" varying. So a test writes down the arguments that it needs.
BodyShapes shapes_by_name(const llvm::Function& function, unsigned width) {
  const BodyShapes row = shapes_of({ThreadLayout::Rows, width});
  const std::map<llvm::StringRef, unsigned> names = {{"group", 0},
                                                     {"x", 1},
                                                     {"y", 2},
                                                     {"z", 3},
                                                     {"index", 4},
                                                     {"lane", kLaneArgument},
                                                     {"active", kActiveArgument}};
  BodyShapes shapes{width, {}};
  for (const llvm::Argument& argument : function.args()) {
    const auto known = names.find(argument.getName());
    if (known != names.end()) {
      shapes.arguments.push_back(row.arguments[known->second]);
    } else {
      shapes.arguments.push_back(argument.getName().starts_with("v") ? Shape::varying()
                                                                     : Shape::uniform());
    }
  }
  return shapes;
}

llvm::Argument& argument(llvm::Function& function, llvm::StringRef name) {
  for (llvm::Argument& argument : function.args()) {
    if (argument.getName() == name) return argument;
  }
  llvm::errs() << function.getName() << " has no argument %" << name << "\n";
  std::exit(1);
}

struct Analyses {
  explicit Analyses(llvm::Function& function)
      : dominators(function), post_dominators(function), loops(dominators) {}

  llvm::DominatorTree dominators;
  llvm::PostDominatorTree post_dominators;
  llvm::LoopInfo loops;
};

std::string to_text(const Shape& shape) {
  if (shape.is_undefined()) return "undefined";
  if (shape.is_strided()) return "strided";
  if (shape.is_varying()) return "varying";
  std::string text = "uniform";
  if (!shape.is_uniform()) {
    text = "lane 0 +";
    for (int64_t offset : shape.offsets()) text += " " + std::to_string(offset);
  }
  if (shape.zero_bits()) text += ", " + std::to_string(shape.zero_bits()) + " zero bits";
  return shape.exact() ? text : text + ", if no lane wraps around";
}

void print_shapes(llvm::Function& function, const BodyShapes& shapes) {
  Analyses of(function);
  const ShapeAnalysis analysis(function, shapes, of.post_dominators, of.loops);
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& instruction : block) {
      if (!instruction.getType()->isVoidTy() && instruction.hasName())
        llvm::outs() << "%" << instruction.getName() << ": "
                     << to_text(analysis.shape(&instruction)) << "\n";
    }
    if (analysis.divergent(&block)) llvm::outs() << block.getName() << ": lanes part\n";
  }
}

void print_regions(llvm::Function& function, const BodyShapes& shapes) {
  for (const Regions::Divergent& found : find_regions(function, shapes).divergent) {
    if (found.branch) {
      llvm::outs() << "branch " << found.branch->getName() << "\n";
    } else {
      llvm::outs() << "loop " << found.loop.header->getName() << " to "
                   << found.loop.exit->getName() << "\n";
    }
  }
}

class Passes {
 public:
  Passes(llvm::Module& module, unsigned width, const char* processor)
      : module_(module), width_(width), target_(create_target(processor)), optimizer_(*target_) {
    module.setTargetTriple(target_->getTargetTriple().str());
    module.setDataLayout(target_->createDataLayout());
  }

  // False if there is no such pass.
  bool run(const std::string& name) {
    const auto whole = of_modules_.find(name);
    if (whole != of_modules_.end()) {
      whole->second();
      return true;
    }
    const auto found = passes_.find(name);
    if (found == passes_.end()) return false;
    llvm::SmallVector<llvm::Function*> functions;
    for (llvm::Function& function : module_) {
      if (!function.isDeclaration()) functions.push_back(&function);
    }
    for (llvm::Function* function : functions)
      found->second(*function, shapes_by_name(*function, width_));
    return true;
  }

 private:
  using Pass = std::function<void(llvm::Function&, const BodyShapes&)>;

  llvm::FunctionAnalysisManager& analyses() { return optimizer_.functions(); }

  void widen_function(llvm::Function& function, const BodyShapes& shapes) {
    std::string reason;
    const bool may_bail_out = llvm::any_of(module_.functions(), [](const llvm::Function& callee) {
      return callee.getName().starts_with("simd.coherent.");
    });
    if (widen(function, shapes, may_bail_out, target_->getTargetTransformInfo(function), reason))
      function.eraseFromParent();
    else
      llvm::outs() << "; no vector code: " << reason << "\n";
  }

  llvm::Module& module_;
  unsigned width_;
  std::unique_ptr<llvm::TargetMachine> target_;
  Optimizer optimizer_;
  const std::map<std::string, std::function<void()>> of_modules_ = {
      {"legalize-masks", [this] { legalize_masks(module_); }},
      {"select-addresses", [this] { select_addresses(module_); }},
      {"expand-small-vectors", [this] { expand_small_vectors(module_); }},
      {"store-halves", [this] { store_halves_as_bits(module_); }},
      {"rows-entry", [this] {
         auto named = [this](const char* name) { return module_.getFunction(name); };
         make_rows_entry({named("wide"), named("speculative"), named("far"), named("prefetch")},
                         *named("thread"), width_);
       }}};
  const std::map<std::string, Pass> passes_ = {
      {"prepare", [this](auto& f, auto&) { PreparePass().run(f, analyses()); }},
      {"block-operations", [](auto& f, auto&) { expand_block_operations(f); }},
      {"constant-offsets", [this](auto& f, auto&) { ConstantOffsetsPass().run(f, analyses()); }},
      {"unroll-private", [this](auto& f, auto&) { UnrollPrivatePass().run(f, analyses()); }},
      {"private-memory",
       [this](auto& f, auto&) { layout_private_memory(f, argument(f, "lane"), width_); }},
      {"shapes", [](auto& f, auto& shapes) { print_shapes(f, shapes); }},
      {"regions", [](auto& f, auto& shapes) { print_regions(f, shapes); }},
      {"nontemporal-stores", [this](auto& f, auto&) { mark_nontemporal_stores(f, analyses()); }},
      {"defer-additions", [](auto& f, auto&) { mark_deferred_additions(f); }},
      {"linearize",
       [this](auto& f, auto& shapes) {
         linearize(f, shapes, argument(f, "active"));
         optimizer_.tidy(f);
       }},
      {"widen", [this](auto& f, auto& shapes) { widen_function(f, shapes); }},
      {"loop-memory", [this](auto& f, auto&) { LoopMemoryPass().run(f, analyses()); }},
      {"join-products", [this](auto& f, auto&) { JoinProductsPass().run(f, analyses()); }},
      {"assume-coherent", [](auto& f, auto& shapes) { clone_assuming_coherent(f, shapes); }},
      {"prefetch-slice",
       [this](auto& f, auto&) {
         if (llvm::Function* slice = make_prefetch_slice(f)) optimizer_.drop_dead_code(*slice);
       }},
      {"prefetch-streams", [](auto& f, auto&) { prefetch_streams(f); }},
      {"prefetch-strides", [this](auto& f, auto&) { optimizer_.prefetch_strides(f); }},
      {"split-at-barriers",
       [this](auto& f, auto&) { make_phases_entry(f, {ThreadLayout::Full, width_}, optimizer_); }},
  };
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    llvm::errs() << "usage: vectorizer_opt PASS [LANES [PROCESSOR]] < FILE.ll\n";
    return 2;
  }
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseIRFile("-", diagnostic, context);
  if (!module) {
    diagnostic.print(argv[0], llvm::errs());
    return 1;
  }
  Passes passes(*module, argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 4,
                argc > 3 ? argv[3] : "x86-64-v3");
  if (!passes.run(argv[1])) {
    llvm::errs() << "there is no pass " << argv[1] << "\n";
    return 2;
  }
  module->print(llvm::outs(), nullptr);
  return llvm::verifyModule(*module, &llvm::errs()) ? 1 : 0;
}
