// Runs steps of the compiler on an LLVM module, from standard input to standard output:
// kernel_opt PASS[,PASS...] [LANES [PROCESSOR]]. The passes are those of the passes.def of
// compiler, cpu and cuda, and two that print what an analysis finds. An error of a pass is printed
// instead of the module, and nothing if the module breaks LLVM's rules.
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>

#include "description.h"
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
#include "metal/compiler/passes.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/codegen/optimizer.h"
#include "metal/cpu/codegen/processor.h"
#include "metal/cpu/passes.h"
#include "metal/cpu/vectorizer/control/regions.h"
#include "metal/cpu/vectorizer/wide_entry.h"
#include "metal/cuda/architectures.h"
#include "metal/cuda/passes.h"
#include "metal/cuda/target.h"

namespace {

using namespace metal::cpu;

std::unique_ptr<llvm::TargetMachine> create_target() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  const std::string triple = llvm::sys::getProcessTriple();
  const Processor& processor = target_processor();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, processor.name, processor.features, {}, llvm::Reloc::PIC_, llvm::CodeModel::Small));
}

// The shapes of a body's arguments in a row of threads, by their names. Names that start with "v"
// are varying, others uniform. So a test declares only the arguments that it needs.
PassContext context_by_names(const llvm::Function& function, unsigned width, Optimizer& optimizer,
                             llvm::TargetMachine& target) {
  PassContext context{.shapes = {.width = width, .arguments = {}, .row_has_gangs = true},
                      .optimizer = optimizer,
                      .target = target};
  const BodyShapes row = shapes_of({ThreadLayout::Rows, width});
  for (const llvm::Argument& argument : function.args()) {
    const auto* known = llvm::find(kBodyArgumentNames, argument.getName());
    const auto place = static_cast<unsigned>(known - std::begin(kBodyArgumentNames));
    if (place == kLaneArgument) context.lane_argument = argument.getArgNo();
    if (place == kActiveArgument) context.active_argument = argument.getArgNo();
    const bool varies = argument.getName().starts_with("v");
    context.shapes.arguments.push_back(place < row.arguments.size() ? row.arguments[place]
                                       : varies                     ? Shape::varying()
                                                                    : Shape::uniform());
  }
  return context;
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
    if (analysis.divergent(&block)) llvm::outs() << block.getName() << ": divergent\n";
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
  Passes(std::unique_ptr<llvm::Module> module, unsigned width)
      : width_(width), target_(create_target()), optimizer_(*target_) {
    module->setTargetTriple(target_->getTargetTriple().str());
    module->setDataLayout(target_->createDataLayout());
    description_ = describe(*module);
    unit_.module = std::move(module);
    // For the steps that depend on them. A test names a step only to see it run.
    unit_.marks_lines = unit_.marks_stops = unit_.marks_math = true;
    if (!description_.declaration.name.empty()) unit_.kernels.push_back(description_.declaration);
    kernel_.checks = description_.checks;
    kernel_.form.row_multiple = description_.row_multiple;
    kernel_.form.row = description_.row;
    kernel_.form.rows = description_.rows;
    kernel_.form.joined = description_.joined;
    kernel_.form.lanes_are_threads = find_cooperation(*unit_.module) == Cooperation::SimdGroups;
  }

  const llvm::Module& module() const { return *unit_.module; }

  // False if there is no such pass.
  bool run(llvm::StringRef name) {
    llvm::Module& module = *unit_.module;
    kernel_.body = module.getFunction("kernel.body");
    PassContext context{.shapes = {}, .optimizer = optimizer_, .target = *target_};
    if (metal::compiler::run_pass(name, form_) || run_pass(name, module, kernel_) ||
        run_pass(name, module, context) || metal::cuda::run_pass(name, module, nvptx_))
      return true;
    if (name == "rows-entry") return make_entry(), true;
    llvm::SmallVector<llvm::Function*> functions;
    for (llvm::Function& function : module) {
      if (!function.isDeclaration()) functions.push_back(&function);
    }
    return llvm::all_of(functions, [&](auto* function) { return run(name, *function); });
  }

 private:
  bool run(llvm::StringRef name, llvm::Function& function) {
    PassContext context = context_by_names(function, width_, optimizer_, *target_);
    context.may_bail_out = llvm::any_of(module().functions(), [](const llvm::Function& callee) {
      return callee.getName().starts_with("simd.coherent.") || callee.getName() == "simd.inside";
    });
    context.separate_buffers = module().getNamedMetadata("separate_buffers") != nullptr;
    context.has_barriers = module().getNamedMetadata("has_barriers") != nullptr;
    const bool found = run_pass(name, function, context) || print(name, function, context);
    if (!context.why_not.empty()) llvm::outs() << "; no vector code: " << context.why_not << "\n";
    return found;
  }

  static bool print(llvm::StringRef analysis, llvm::Function& function,
                    const PassContext& context) {
    if (analysis == "shapes") {
      print_shapes(function, context.shapes);
    } else if (analysis == "regions") {
      print_regions(function, context.shapes);
    } else {
      return false;
    }
    return true;
  }

  // Made from several functions with these names.
  void make_entry() {
    auto named = [this](const char* name) { return module().getFunction(name); };
    make_rows_entry({.wide = named("wide"),
                     .speculative = named("speculative"),
                     .several_gangs = named("several_gangs"),
                     .prefetch_slice = named("prefetch"),
                     .jammed = {named("jammed"), 2},
                     .iteration = named("iteration"),
                     .iteration_count = named("iterations")},
                    *named("thread"), width_);
  }

  unsigned width_;
  std::unique_ptr<llvm::TargetMachine> target_;
  Optimizer optimizer_;
  Description description_;
  metal::compiler::TranslationUnit unit_;
  metal::compiler::FormContext form_{.unit = unit_};
  KernelContext kernel_{.function = description_.function,
                        .constants = description_.constants,
                        .optimizer = optimizer_,
                        .target = *target_};
  std::unique_ptr<llvm::TargetMachine> gpu_ =
      metal::cuda::create_target(metal::cuda::kDefaultArchitecture);
  metal::cuda::PassContext nvptx_{description_.function, *gpu_};
};

int run_passes(std::unique_ptr<llvm::Module> module, llvm::StringRef names, unsigned width) {
  Passes passes(std::move(module), width);
  for (llvm::StringRef name : llvm::split(names, ',')) {
    if (passes.run(name)) continue;
    llvm::errs() << "there is no pass " << name << "\n";
    return 2;
  }
  if (llvm::verifyModule(passes.module(), &llvm::errs())) return 1;
  passes.module().print(llvm::outs(), nullptr);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    llvm::errs() << "usage: kernel_opt PASS[,PASS...] [LANES [PROCESSOR]] < FILE.ll\n";
    return 2;
  }
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseIRFile("-", diagnostic, context);
  if (!module) {
    diagnostic.print(argv[0], llvm::errs());
    return 1;
  }
  const bool is_x86 = llvm::Triple(llvm::sys::getProcessTriple()).isX86();
  setenv("MLX_CPU_TARGET", argc > 3 ? argv[3] : is_x86 ? "x86-64-v3" : "cortex-a72", 1);
  try {
    return run_passes(std::move(module), argv[1],
                      argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 4);
  } catch (const std::exception& error) {
    llvm::outs() << "; error: " << error.what() << "\n";
    return 1;
  }
}
