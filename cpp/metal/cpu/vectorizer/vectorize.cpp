#include "metal/cpu/vectorizer/vectorize.h"

#include <cstdlib>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "metal/cpu/code_generator.h"
#include "metal/cpu/optimizer.h"
#include "metal/cpu/vectorizer/assume_together.h"
#include "metal/cpu/vectorizer/float_atomics.h"
#include "metal/cpu/vectorizer/linearize.h"
#include "metal/cpu/vectorizer/prepare.h"
#include "metal/cpu/vectorizer/private_memory.h"
#include "metal/cpu/vectorizer/split_at_barriers.h"
#include "metal/cpu/vectorizer/wide_entry.h"
#include "metal/cpu/vectorizer/widen.h"
#include "metal/cpu/vectorizer/widen_masks.h"

namespace metal::cpu {
namespace {

// With MLX_PRINT_VECTORIZER set, the code after each step goes to standard error.
void show(const char* step, const llvm::Function& code) {
  static const char* wanted = std::getenv("MLX_PRINT_VECTORIZER");
  if (!wanted || !*wanted) return;
  llvm::errs() << "\n; ---- " << step << "\n";
  code.print(llvm::errs());
}

}  // namespace

namespace {

class Vectorizer {
 public:
  Vectorizer(const Variant& variant, llvm::TargetMachine& target, Optimizer& optimizer)
      : variant_(variant), shapes_(shapes_of(variant)), target_(target), optimizer_(optimizer) {}

  const BodyShapes& shapes() const { return shapes_; }

  // Null, and `reason`, where there is no vector code. The body goes.
  llvm::Function* run(llvm::Function& body, std::string& reason) {
    PreparePass().run(body, optimizer_.functions());
    show("prepared", body);
    layout_private_memory(body, *body.getArg(kLaneArgument), variant_.width);
    show("private memory laid out", body);
    linearize(body, shapes_, *body.getArg(kActiveArgument));
    show("linearized", body);
    optimizer_.tidy(body);
    llvm::Function* wide = widen(body, shapes_, target_.getTargetTransformInfo(body), reason);
    if (!wide) return nullptr;
    show("widened", *wide);
    body.eraseFromParent();
    return wide;
  }

 private:
  const Variant& variant_;
  BodyShapes shapes_;
  llvm::TargetMachine& target_;
  Optimizer& optimizer_;
};

}  // namespace

std::string vectorize(llvm::Function& body, const Variant& variant, bool has_barriers,
                      llvm::TargetMachine& target, Optimizer& optimizer) {
  llvm::Module& module = *body.getParent();
  Vectorizer vectorizer(variant, target, optimizer);
  mark_constant_loads(body);
  optimizer.simplify_body(body);
  if (!has_barriers && peel_index_loops(body, vectorizer.shapes(), optimizer.functions()))
    optimizer.tidy(body);
  show("simplified body of one thread", body);

  llvm::Function* rest = nullptr;  // for single threads
  if (variant.layout == ThreadLayout::Rows) {
    llvm::ValueToValueMapTy values;
    rest = llvm::CloneFunction(&body, values);
    lock_float_adds(*rest);
  }
  llvm::Function* hopeful = nullptr;
  if (!has_barriers) hopeful = clone_assuming_together(body, vectorizer.shapes());

  std::string reason;
  UnitCode code;
  code.wide = vectorizer.run(body, reason);
  if (!code.wide) return reason;
  if (hopeful) {
    code.hopeful = vectorizer.run(*hopeful, reason);
    if (!code.hopeful) return reason;
  }
  if (rest) {
    make_rows_entry(code, *rest, variant.width);
  } else if (has_barriers) {
    optimizer.simplify_wide(*code.wide);
    make_turns_entry(*code.wide, variant, optimizer);
  } else {
    make_all_units_entry(code, variant);
  }
  optimizer.optimize_wide(module);
  if (!target.getTargetFeatureString().contains("+avx512f")) widen_masks(module);
  show("optimized", *module.getFunction(kEntrySymbol));
  return "";
}

}  // namespace metal::cpu
