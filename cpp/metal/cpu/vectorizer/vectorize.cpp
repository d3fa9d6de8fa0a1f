#include "metal/cpu/vectorizer/vectorize.h"

#include <cstdlib>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/ir_text.h"
#include "metal/compiler/verify.h"
#include "metal/cpu/code_generator.h"
#include "metal/cpu/lower.h"
#include "metal/cpu/optimizer.h"
#include "metal/cpu/vectorizer/assume_together.h"
#include "metal/cpu/vectorizer/fetch_ahead.h"
#include "metal/cpu/vectorizer/fetch_streams.h"
#include "metal/cpu/vectorizer/float_atomics.h"
#include "metal/cpu/vectorizer/linearize.h"
#include "metal/cpu/vectorizer/prepare.h"
#include "metal/cpu/vectorizer/private_memory.h"
#include "metal/cpu/vectorizer/select_addresses.h"
#include "metal/cpu/vectorizer/speculation.h"
#include "metal/cpu/vectorizer/split_at_barriers.h"
#include "metal/cpu/vectorizer/stream_stores.h"
#include "metal/cpu/vectorizer/wide_entry.h"
#include "metal/cpu/vectorizer/widen.h"
#include "metal/cpu/vectorizer/widen_masks.h"

namespace metal::cpu {
namespace {

// Out of its module, with all that it needs, as bitcode.
std::string take_general_code(llvm::Function& wide) {
  llvm::ValueToValueMapTy copies;
  const auto module = llvm::CloneModule(*wide.getParent(), copies);
  auto* general = checked_cast<llvm::Function>(copies[&wide]);
  for (llvm::GlobalObject& object : module->global_objects()) {
    if (!object.isDeclaration()) object.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  general->setLinkage(llvm::GlobalValue::ExternalLinkage);
  general->setName(kGeneralSymbol);
  compiler::remove_unused(*module);
  wide.eraseFromParent();
  return compiler::write_bitcode(*module);
}

class Vectorizer {
 public:
  Vectorizer(llvm::Function& body, const Variant& variant, bool has_barriers,
             llvm::TargetMachine& target, Optimizer& optimizer)
      : module_(*body.getParent()),
        variant_(variant),
        has_barriers_(has_barriers),
        target_(target),
        optimizer_(optimizer),
        body_(&body) {}

  Vectorized run() {
    simplify();
    make_clones();
    UnitCode code;
    const std::pair<llvm::Function*, llvm::Function**> results[] = {
        {body_, &code.wide}, {hopeful_, &code.hopeful}, {far_, &code.far}, {fetch_, &code.fetch}};
    for (const auto& [body, wide] : results) {
      if (!body) continue;
      const bool several = body == far_ || (body == fetch_ && far_);
      *wide = widen_body(*body, several ? together_width(variant_.width) : variant_.width);
      if (!*wide) return {reason_};
    }
    if (code.fetch && !fetches(*code.fetch)) {
      code.fetch->eraseFromParent();
      code.fetch = nullptr;
    }
    Vectorized result{.fetches = code.fetch != nullptr};
    make_entry(code);
    if (code.hopeful) result.general = take_general_code(*code.wide);
    finish();
    return result;
  }

 private:
  // With MLX_PRINT_VECTORIZER set, the code after each step goes to standard error.
  void show(const char* step, const llvm::Function& code) {
    compiler::verify(code, step);
    static const char* wanted = std::getenv("MLX_PRINT_VECTORIZER");
    if (!wanted || !*wanted) return;
    std::string text;
    llvm::raw_string_ostream(text) << code;
    const bool same = text == std::exchange(shown_, text);
    llvm::errs() << "\n; ---- " << step << (same ? ": as before\n" : "\n" + text);
  }

  void simplify() {
    mark_constant_loads(*body_);
    optimizer_.simplify_body(*body_);
    undo_guarded_forms(*body_);
    if (!has_barriers_ && peel_index_loops(*body_, shapes_of(variant_), optimizer_.functions()))
      optimizer_.tidy(*body_);
    mark_streamed_stores(*body_, optimizer_.functions());
    if (!has_barriers_) mark_deferred_additions(*body_);
    show("simplified body of one thread", *body_);
  }

  // See UnitCode for what they are good for.
  void make_clones() {
    if (variant_.layout == ThreadLayout::Rows) {
      llvm::ValueToValueMapTy values;
      rest_ = llvm::CloneFunction(body_, values);
      lock_float_adds(*rest_);
    }
    if (has_barriers_) return;
    hopeful_ = clone_assuming_together(*body_, shapes_of(variant_));
    // Where threads need not be a SIMD-group, more of them may be together.
    if (hopeful_ && rest_) {
      far_ = clone_assuming_together(
          *body_,
          shapes_of({variant_.layout, together_width(variant_.width), variant_.row_multiple}));
    }
    fetch_ = clone_for_fetching(far_ ? *far_ : hopeful_ ? *hopeful_ : *body_);
    if (!fetch_) return;
    optimizer_.drop_dead_code(*fetch_);
    if (is_quick(*fetch_)) return;
    fetch_->eraseFromParent();
    fetch_ = nullptr;
  }

  // Null, and the reason, where there is no vector code. The body goes.
  llvm::Function* widen_body(llvm::Function& body, uint32_t width) {
    const BodyShapes shapes = shapes_of({variant_.layout, width, variant_.row_multiple});
    if (&body != fetch_) {
      optimizer_.fetch_strides(body);
      fetch_streams(body);
      show("asks ahead", body);
    }
    PreparePass().run(body, optimizer_.functions());
    show("prepared", body);
    layout_private_memory(body, *body.getArg(kLaneArgument), width);
    show("private memory laid out", body);
    linearize(body, shapes, *body.getArg(kActiveArgument));
    show("linearized", body);
    optimizer_.tidy_linear(body);
    const bool may_give_up = hopeful_ && &body != body_;
    llvm::Function* wide =
        widen(body, shapes, may_give_up, target_.getTargetTransformInfo(body), reason_);
    if (!wide) return nullptr;
    show("widened", *wide);
    body.eraseFromParent();
    return wide;
  }

  void make_entry(const UnitCode& code) {
    if (rest_) {
      make_rows_entry(code, *rest_, variant_.width);
    } else if (has_barriers_) {
      optimizer_.simplify_wide(*code.wide);
      make_turns_entry(*code.wide, variant_, optimizer_);
    } else {
      make_all_units_entry(code, variant_);
    }
  }

  void finish() {
    finish_vector_code(module_, target_, optimizer_);
    show("optimized", *module_.getFunction(kEntrySymbol));
  }

  llvm::Module& module_;
  const Variant& variant_;
  const bool has_barriers_;
  llvm::TargetMachine& target_;
  Optimizer& optimizer_;
  llvm::Function* body_;
  llvm::Function* rest_ = nullptr;  // for single threads
  llvm::Function* hopeful_ = nullptr;
  llvm::Function* far_ = nullptr;
  llvm::Function* fetch_ = nullptr;
  std::string reason_;
  std::string shown_;  // the code after the last step
};

}  // namespace

void finish_vector_code(llvm::Module& module, llvm::TargetMachine& target, Optimizer& optimizer) {
  compiler::verify(module, "entries");
  optimizer.optimize_wide(module);
  select_addresses(module);
  compiler::verify(module, "select_addresses");
  const llvm::StringRef features = target.getTargetFeatureString();
  if (!features.contains("+avx512fp16") && !features.contains("+fullfp16"))
    expand_small_vectors(module);
  compiler::verify(module, "expand_small_vectors");
  if (!features.contains("+avx512f")) widen_masks(module);
  compiler::verify(module, "widen_masks");
  store_halves_as_numbers(module);
}

Vectorized vectorize(llvm::Function& body, const Variant& variant, bool has_barriers,
                     llvm::TargetMachine& target, Optimizer& optimizer) {
  return Vectorizer(body, variant, has_barriers, target, optimizer).run();
}

}  // namespace metal::cpu
