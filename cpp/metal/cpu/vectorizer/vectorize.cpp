#include "metal/cpu/vectorizer/vectorize.h"

#include <cstdlib>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "metal/cpu/code_generator.h"
#include "metal/cpu/optimizer.h"
#include "metal/cpu/vectorizer/float_atomics.h"
#include "metal/cpu/vectorizer/linearize.h"
#include "metal/cpu/vectorizer/prepare.h"
#include "metal/cpu/vectorizer/private_memory.h"
#include "metal/cpu/vectorizer/wide_entry.h"
#include "metal/cpu/vectorizer/widen.h"

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

std::string vectorize(llvm::Function& body, const Variant& variant, bool each_unit,
                      llvm::TargetMachine& target, Optimizer& optimizer) {
  llvm::Module& module = *body.getParent();
  const BodyShapes shapes = shapes_of(variant);
  mark_constant_loads(body);
  optimizer.simplify_body(body);
  show("simplified body of one thread", body);

  llvm::Function* rest = nullptr;  // for single threads
  if (variant.layout == ThreadLayout::Rows) {
    llvm::ValueToValueMapTy values;
    rest = llvm::CloneFunction(&body, values);
    lock_float_adds(*rest);
  }

  PreparePass().run(body, optimizer.functions());
  show("prepared", body);
  layout_private_memory(body, *body.getArg(kLaneArgument), variant.width);
  show("private memory laid out", body);
  linearize(body, shapes, *body.getArg(kActiveArgument));
  show("linearized", body);
  optimizer.tidy(body);
  std::string reason;
  llvm::Function* wide = widen(body, shapes, target.getTargetTransformInfo(body), reason);
  if (!wide) return reason;
  show("widened", *wide);
  body.eraseFromParent();

  if (rest) {
    make_rows_entry(*wide, *rest, variant.width);
  } else if (each_unit) {
    make_unit_entry(*wide, variant);
  } else {
    make_all_units_entry(*wide, variant);
  }
  optimizer.optimize_wide(module);
  show("optimized", *module.getFunction(kEntrySymbol));
  return "";
}

}  // namespace metal::cpu
