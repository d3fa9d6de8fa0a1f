#include "metal/cpu/vectorizer/vectorize.h"

#include <algorithm>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/ir_text.h"
#include "metal/compiler/verify.h"
#include "metal/cpu/codegen/code_generator.h"
#include "metal/cpu/codegen/optimizer.h"
#include "metal/cpu/passes.h"
#include "metal/cpu/vectorizer/control/assume_coherent.h"
#include "metal/cpu/vectorizer/control/assume_inside.h"
#include "metal/cpu/vectorizer/control/distribute_stores.h"
#include "metal/cpu/vectorizer/control/gang_width.h"
#include "metal/cpu/vectorizer/control/interchange_loop.h"
#include "metal/cpu/vectorizer/control/jam_gangs.h"
#include "metal/cpu/vectorizer/control/jam_rows.h"
#include "metal/cpu/vectorizer/control/loops_of_gangs.h"
#include "metal/cpu/vectorizer/control/split_at_barriers.h"
#include "metal/cpu/vectorizer/memory/columns.h"
#include "metal/cpu/vectorizer/memory/early_columns.h"
#include "metal/cpu/vectorizer/memory/float_atomics.h"
#include "metal/cpu/vectorizer/memory/unroll_rows.h"
#include "metal/cpu/vectorizer/prefetch/prefetch_slice.h"
#include "metal/cpu/vectorizer/speculation.h"
#include "metal/cpu/vectorizer/wide_entry.h"

namespace metal::cpu {
namespace {

bool bails_out(const llvm::Function& body) {
  const llvm::Function* marker = body.getParent()->getFunction(kInside);
  return marker && llvm::any_of(marker->users(), [&](const llvm::User* user) {
           return checked_cast<const llvm::CallInst>(user)->getFunction() == &body;
         });
}

// Removes the function from its module and returns it as bitcode, with all that it uses.
std::string extract_general_code(llvm::Function& wide) {
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
    PassContext context = context_of(variant_.width);
    run_thread_passes(*body_, context);
    if (variant_.layout == ThreadLayout::Rows) choose_width(context);
    if (has_barriers_) copy_loops_of_gangs();
    make_clones();
    GangCode code{.column = columns_.threads,
                  .column_dimension = columns_.dimension,
                  .iteration_count = interchanged_.count};
    const std::pair<llvm::Function*, llvm::Function**> results[] = {
        {body_, &code.wide},
        {speculative_, &code.speculative},
        {several_gangs_, &code.several_gangs},
        {prefetch_slice_, &code.prefetch_slice},
        {columns_.body, &code.columns},
        {interchanged_.iteration, &code.iteration}};
    for (llvm::Function* piece : pieces_) {
      code.pieces.push_back(widen_body(*piece, variant_.width));
      if (!code.pieces.back()) return {reason_};
    }
    for (const auto& [body, wide] : results) {
      if (!body) continue;
      const bool several = body == several_gangs_ || (body == prefetch_slice_ && several_gangs_);
      *wide = widen_body(*body, several ? coherent_width(variant_.width) : variant_.width);
      if (!*wide) return {reason_};
    }
    if (code.prefetch_slice && !prefetches(*code.prefetch_slice)) {
      code.prefetch_slice->eraseFromParent();
      code.prefetch_slice = nullptr;
    }
    Vectorized result{.prefetches = code.prefetch_slice != nullptr,
                      .interchanges = code.iteration != nullptr};
    if (!make_entry(code)) return {reason_};
    if (code.speculative) result.general = extract_general_code(*code.wide);
    finish_vector_code(module_, target_, optimizer_);
    return result;
  }

 private:
  // If each lane reads a row, fewer lanes are faster: processors follow few streams of memory, and
  // as many elements of a row as a cache line has should fit into the registers.
  void choose_width(const PassContext& context) {
    if (context.reads_rows || exceeds_registers(*body_, context.shapes, context.costs(*body_)))
      variant_.width = std::max(variant_.width / 2, kNarrowestGang);
    while (variant_.width > kNarrowestGang &&
           is_long(*body_, variant_.width, context.costs(*body_)))
      variant_.width /= 2;
  }

  // GangCode says what the clones are for.
  void make_clones() {
    if (variant_.layout == ThreadLayout::Rows) {
      llvm::ValueToValueMapTy values;
      rest_ = llvm::CloneFunction(body_, values);
      lock_float_adds(*rest_);
    }
    if (has_barriers_) return;
    if (variant_.rows_at_once > 1 || variant_.layers_at_once > 1)
      columns_ = clone_jamming_rows(*body_, variant_, shapes_of(variant_), optimizer_);
    if (columns_.body) return;  // the gangs of other code only run at the edges of the data
    if (rest_) interchanged_ = interchange_loop(*body_, optimizer_);
    speculative_ = clone_assuming_coherent(*body_, shapes_of(variant_));
    if (rest_ && !interchanged_.iteration && !speculative_)
      pieces_ = distribute_stores(*body_, optimizer_);
    if (!pieces_.empty()) {
      body_->eraseFromParent();
      body_ = nullptr;
      return;
    }
    // If gangs need not be SIMD-groups, speculative code can run several gangs at once.
    if (speculative_ && rest_) {
      several_gangs_ = clone_assuming_coherent(
          *body_,
          shapes_of({variant_.layout, coherent_width(variant_.width), variant_.row_multiple}));
    }
    prefetch_slice_ = make_prefetch_slice(several_gangs_ ? *several_gangs_
                                          : speculative_ ? *speculative_
                                                         : *body_);
    tidy_prefetch_slice();
    speculative_ = assume_inside(speculative_ ? *speculative_ : *body_, variant_.width);
    if (several_gangs_)
      several_gangs_ = assume_inside(*several_gangs_, coherent_width(variant_.width));
  }

  void copy_loops_of_gangs() {
    if (!cpu::copy_loops_of_gangs(*body_, variant_, optimizer_.functions())) return;
    optimizer_.simplify_body(*body_);
    undo_guarded_forms(*body_);
    compiler::verify(*body_, "loops-of-gangs");
  }

  void tidy_prefetch_slice() {
    if (!prefetch_slice_) return;
    optimizer_.drop_dead_code(*prefetch_slice_);
    if (is_quick(*prefetch_slice_)) return;
    prefetch_slice_->eraseFromParent();
    prefetch_slice_ = nullptr;
  }

  // Code for gangs inside, which replaces other speculative code. Without edges, more loops are
  // unrolled. If nothing is gained, speculative code stays as it is; there is none for `body_`.
  llvm::Function* assume_inside(llvm::Function& code, uint32_t width) {
    const BodyShapes shapes = shapes_of({variant_.layout, width, variant_.row_multiple});
    const bool is_speculative = &code != body_;
    llvm::Function* inside = clone_assuming_inside(code, shapes, optimizer_);
    if (!inside) return is_speculative ? &code : nullptr;
    if (is_speculative) code.eraseFromParent();
    optimizer_.simplify_body(*inside);
    undo_guarded_forms(*inside);
    if (unroll_rows(*inside, shapes, optimizer_.functions(), !has_barriers_))
      optimizer_.tidy(*inside);
    compiler::verify(*inside, "assume-inside");
    return inside;
  }

  // Null if there is no vector code; `reason_` says why. The body is removed.
  llvm::Function* widen_body(llvm::Function& body, uint32_t width) {
    PassContext context = context_of(width);
    context.prefetches = &body != prefetch_slice_;
    context.is_interchanged = &body == body_ && interchanged_.iteration;
    if (&body == interchanged_.iteration) context.shapes.arguments.push_back(Shape::uniform());
    context.may_bail_out = (speculative_ && &body != body_ && &body != interchanged_.iteration) ||
                           (&body == columns_.body && bails_out(body));
    run_gang_passes(body, context);
    reason_ = context.why_not;
    return context.wide;
  }

  // False if there is none; `reason_` says why.
  bool make_entry(GangCode& code) {
    if (rest_) {
      jam_row(code);
      make_rows_entry(code, *rest_, variant_.width);
    } else if (has_barriers_) {
      return make_entry_with_barriers(*code.wide);
    } else {
      jam_gangs_beside(code);
      make_all_gangs_entry(code, variant_);
    }
    return true;
  }

  void jam_gangs_beside(GangCode& code) {
    if (code.prefetch_slice || variant_.gangs_at_once == 1) return;
    llvm::Function& gang = code.speculative ? *code.speculative : *code.wide;
    const llvm::TargetTransformInfo costs = target_.getTargetTransformInfo(gang);
    code.jammed = clone_jamming_gangs(gang, variant_, optimizer_, costs);
  }

  void jam_row(GangCode& code) {
    if (code.several_gangs || code.columns || code.iteration || code.prefetch_slice ||
        !code.pieces.empty())
      return;
    llvm::Function& gang = code.speculative ? *code.speculative : *code.wide;
    const llvm::TargetTransformInfo costs = target_.getTargetTransformInfo(gang);
    code.jammed = clone_jamming_row(gang, variant_, optimizer_, costs);
  }

  // Joined threadgroups need not come to the same barriers. But where gangs are jammed, all of them
  // take the same path to each barrier.
  bool make_entry_with_barriers(llvm::Function& wide) {
    optimizer_.simplify_wide(wide);
    Variant jammed = variant_;
    const llvm::TargetTransformInfo costs = target_.getTargetTransformInfo(wide);
    if (variant_.gangs_in_row) read_columns_early(wide, optimizer_.functions());
    jammed.jammed = jam_gangs(wide, variant_, optimizer_.functions(), costs);
    if (variant_.joined.any() && jammed.jammed != variant_.gangs_in_row * variant_.rows) {
      reason_ = "the gangs of joined threadgroups do not run at once";
      return false;
    }
    if (jammed.jammed > 1) optimizer_.tidy(wide);
    join_columns(wide, optimizer_.functions(), costs);
    make_phases_entry(wide, jammed, optimizer_);
    return true;
  }

  PassContext context_of(uint32_t width) {
    return {.shapes = shapes_of({.layout = variant_.layout,
                                 .width = width,
                                 .row_multiple = variant_.row_multiple,
                                 .gangs_in_row = variant_.gangs_in_row}),
            .optimizer = optimizer_,
            .target = target_,
            .has_barriers = has_barriers_,
            .separate_buffers = variant_.separate_buffers};
  }

  llvm::Module& module_;
  Variant variant_;
  const bool has_barriers_;
  llvm::TargetMachine& target_;
  Optimizer& optimizer_;
  llvm::Function* body_;
  llvm::Function* rest_ = nullptr;  // scalar code for the rest of a row
  llvm::Function* speculative_ = nullptr;
  llvm::Function* several_gangs_ = nullptr;
  llvm::Function* prefetch_slice_ = nullptr;
  JammedRows columns_;
  InterchangedLoop interchanged_;
  std::vector<llvm::Function*> pieces_;  // see distribute_stores.h
  std::string reason_;
};

}  // namespace

void finish_vector_code(llvm::Module& module, llvm::TargetMachine& target, Optimizer& optimizer) {
  compiler::verify(module, "entries");
  PassContext context{.shapes = {}, .optimizer = optimizer, .target = target};
  run_module_passes(module, context);
}

Vectorized vectorize(llvm::Function& body, const Variant& variant, bool has_barriers,
                     llvm::TargetMachine& target, Optimizer& optimizer) {
  return Vectorizer(body, variant, has_barriers, target, optimizer).run();
}

}  // namespace metal::cpu
