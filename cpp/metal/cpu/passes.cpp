#include "metal/cpu/passes.h"

#include <cstdlib>
#include <utility>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "metal/compiler/element_alignment.h"
#include "metal/compiler/hardware_math.h"
#include "metal/compiler/kernel_form.h"
#include "metal/compiler/matrix_calls.h"
#include "metal/compiler/specialize.h"
#include "metal/compiler/unroll_private.h"
#include "metal/compiler/verify.h"
#include "metal/cpu/cache_line.h"
#include "metal/cpu/checks/collisions.h"
#include "metal/cpu/checks/insert_checks.h"
#include "metal/cpu/checks/screen.h"
#include "metal/cpu/codegen/code_generator.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/codegen/optimizer.h"
#include "metal/cpu/codegen/share_exponentials.h"
#include "metal/cpu/vectorizer/control/assume_coherent.h"
#include "metal/cpu/vectorizer/control/assume_inside.h"
#include "metal/cpu/vectorizer/control/comparisons.h"
#include "metal/cpu/vectorizer/control/descending_barriers.h"
#include "metal/cpu/vectorizer/control/distribute_stores.h"
#include "metal/cpu/vectorizer/control/interchange_loop.h"
#include "metal/cpu/vectorizer/control/jam_gangs.h"
#include "metal/cpu/vectorizer/control/jam_rows.h"
#include "metal/cpu/vectorizer/control/known_counts.h"
#include "metal/cpu/vectorizer/control/lanes_in_turn.h"
#include "metal/cpu/vectorizer/control/linearize.h"
#include "metal/cpu/vectorizer/control/loop_tails.h"
#include "metal/cpu/vectorizer/control/loops_of_gangs.h"
#include "metal/cpu/vectorizer/control/order_iterations.h"
#include "metal/cpu/vectorizer/control/phase_loops.h"
#include "metal/cpu/vectorizer/control/redundant_selects.h"
#include "metal/cpu/vectorizer/control/share_rows.h"
#include "metal/cpu/vectorizer/control/split_at_barriers.h"
#include "metal/cpu/vectorizer/legalize/compare_halves.h"
#include "metal/cpu/vectorizer/legalize/legalize_masks.h"
#include "metal/cpu/vectorizer/legalize/merge_shuffles.h"
#include "metal/cpu/vectorizer/legalize/order_for_registers.h"
#include "metal/cpu/vectorizer/legalize/reciprocal_roots.h"
#include "metal/cpu/vectorizer/legalize/select_addresses.h"
#include "metal/cpu/vectorizer/legalize/select_extremes.h"
#include "metal/cpu/vectorizer/legalize/split_loops.h"
#include "metal/cpu/vectorizer/legalize/transpose_structs.h"
#include "metal/cpu/vectorizer/matrix/lower_matrices.h"
#include "metal/cpu/vectorizer/matrix/matrix_layout.h"
#include "metal/cpu/vectorizer/matrix/whole_matrices.h"
#include "metal/cpu/vectorizer/memory/block_operations.h"
#include "metal/cpu/vectorizer/memory/columns.h"
#include "metal/cpu/vectorizer/memory/constant_offsets.h"
#include "metal/cpu/vectorizer/memory/early_columns.h"
#include "metal/cpu/vectorizer/memory/float_atomics.h"
#include "metal/cpu/vectorizer/memory/interleaved_arithmetic.h"
#include "metal/cpu/vectorizer/memory/joined_indices.h"
#include "metal/cpu/vectorizer/memory/nontemporal_stores.h"
#include "metal/cpu/vectorizer/memory/private_memory.h"
#include "metal/cpu/vectorizer/memory/restored_sums.h"
#include "metal/cpu/vectorizer/memory/select_elements.h"
#include "metal/cpu/vectorizer/memory/separate_memory.h"
#include "metal/cpu/vectorizer/memory/unroll_rows.h"
#include "metal/cpu/vectorizer/prefetch/prefetch_ahead.h"
#include "metal/cpu/vectorizer/prefetch/prefetch_pieces.h"
#include "metal/cpu/vectorizer/prefetch/prefetch_slice.h"
#include "metal/cpu/vectorizer/prefetch/read_in_order.h"
#include "metal/cpu/vectorizer/prepare.h"
#include "metal/cpu/vectorizer/speculation.h"
#include "metal/cpu/vectorizer/wide_entry.h"
#include "metal/cpu/vectorizer/widen/widen.h"

namespace metal::cpu {
namespace {

// Prints the code after each pass to standard error if MLX_PRINT_VECTORIZER is set.
void print_if_wanted(const char* pass, const llvm::Function& code) {
  static const char* wanted = std::getenv("MLX_PRINT_VECTORIZER");
  if (!wanted || !*wanted) return;
  static thread_local std::string before;
  std::string text;
  llvm::raw_string_ostream(text) << code;
  const bool same = text == std::exchange(before, text);
  llvm::errs() << "\n; ---- " << pass << (same ? ": as before\n" : "\n" + text);
}

void after(const char* pass, const llvm::Function& code) {
  compiler::verify(code, pass);
  print_if_wanted(pass, code);
}

void after(const char* pass, const llvm::Module& code) {
  compiler::verify(code, pass);
  for (const char* name : {kEntrySymbol, kGeneralSymbol}) {
    const llvm::Function* function = code.getFunction(name);
    if (function && !function->isDeclaration()) print_if_wanted(pass, *function);
  }
}

void select_elements_and_simplify(llvm::Function& code, PassContext& c) {
  if (select_elements(code, c.shapes, c.analyses())) c.optimizer.simplify_body(code);
}

void order_iterations_and_simplify(llvm::Function& code, PassContext& c) {
  if (order_iterations(code, c.shapes, c.analyses())) c.optimizer.simplify_body(code);
}

void peel_and_tidy(llvm::Function& code, PassContext& c) {
  if (peel_index_loops(code, c.shapes, c.analyses())) c.optimizer.tidy(code);
}

void unroll_rows_and_tidy(llvm::Function& code, PassContext& c) {
  c.reads_rows = unroll_rows(code, c.shapes, c.analyses(), /*leaves_shared=*/!c.has_barriers);
  if (c.reads_rows) c.optimizer.tidy(code);
}

void share_rows_and_tidy(llvm::Function& code, PassContext& c) {
  if (share_rows(code, c.shapes, c.lane(code), c.analyses())) c.optimizer.tidy(code);
}

void run_lanes_in_turn_and_tidy(llvm::Function& code, PassContext& c) {
  if (run_lanes_in_turn(code, c.shapes, c.lane(code), c.analyses())) c.optimizer.tidy(code);
}

// Gangs that are narrower than a SIMD-group have a row of a tile each. If it is shorter than a
// cache line, another threadgroup stores the rest of the line, much later.
void mark_stores(llvm::Function& code, PassContext& c) {
  const bool has_short_rows = c.has_barriers && c.shapes.width < kSimdWidth;
  mark_nontemporal_stores(code, c.analyses(), has_short_rows ? kCacheLine / c.shapes.width : 1);
}

// "prepare" splits stores of vectors, and their marks get lost.
void mark_split_stores(llvm::Function& code, PassContext& c) {
  c.analyses().clear();
  mark_stores(code, c);
}

void widen_in_place(llvm::Function& code, PassContext& c) {
  c.wide = widen(code, c.shapes, c.may_bail_out, c.target.getTargetTransformInfo(code), c.why_not);
  if (c.wide) code.eraseFromParent();
}

// Once there is code of a gang, that of a lane is gone.
void join_columns_of_gang(llvm::Function& lane, PassContext& c) {
  llvm::Function& code = c.wide ? *c.wide : lane;
  join_columns(code, c.analyses(), c.costs(code));
}

bool has_feature(const PassContext& c, llvm::StringRef feature) {
  return c.target.getTargetFeatureString().contains(feature);
}

bool computes_in_half(const PassContext& c) {
  return has_feature(c, "+avx512fp16") || has_feature(c, "+fullfp16");
}

bool has_mask_registers(const PassContext& c) { return has_feature(c, "+avx512f"); }

}  // namespace

llvm::FunctionAnalysisManager& PassContext::analyses() { return optimizer.functions(); }

llvm::TargetTransformInfo PassContext::costs(const llvm::Function& code) const {
  return target.getTargetTransformInfo(code);
}

#define RUN_PASS(name, condition, action, result) \
  if (condition) {                                \
    action;                                       \
    after(name, result);                          \
  }

#define VERIFY_PASS(name, condition, action) \
  if (condition) {                           \
    action;                                  \
    compiler::verify(code, name);            \
  }

void run_kernel_passes(llvm::Module& code, KernelContext& c) {
#define KERNEL_PASS VERIFY_PASS
#include "metal/cpu/passes.def"
}

void run_scalar_passes(llvm::Module& code, KernelContext& c) {
#define SCALAR_PASS VERIFY_PASS
#include "metal/cpu/passes.def"
}

void run_thread_passes(llvm::Function& code, PassContext& c) {
#define THREAD_PASS(name, condition, action) RUN_PASS(name, condition, action, code)
#include "metal/cpu/passes.def"
}

void run_gang_passes(llvm::Function& code, PassContext& c) {
#define GANG_PASS(name, condition, action) \
  RUN_PASS(name, condition, action, c.wide ? *c.wide : code)
#include "metal/cpu/passes.def"
}

void run_module_passes(llvm::Module& code, PassContext& c) {
#define MODULE_PASS(name, condition, action) RUN_PASS(name, condition, action, code)
#include "metal/cpu/passes.def"
}

#undef VERIFY_PASS
#undef RUN_PASS

bool run_pass(llvm::StringRef wanted, llvm::Module& code, KernelContext& c) {
#define KERNEL_PASS(name, condition, action) \
  if (wanted == (name)) return action, true;
#define SCALAR_PASS KERNEL_PASS
#include "metal/cpu/passes.def"
  return false;
}

bool run_pass(llvm::StringRef wanted, llvm::Function& code, PassContext& c) {
#define THREAD_PASS(name, condition, action) \
  if (wanted == (name)) return action, true;
#define GANG_PASS THREAD_PASS
#define LLVM_PASS(name, type) \
  if (wanted == (name)) return type().run(code, c.analyses()), true;
#define OTHER_PASS(name, action) THREAD_PASS(name, true, action)
#include "metal/cpu/passes.def"
  return false;
}

bool run_pass(llvm::StringRef wanted, llvm::Module& code, PassContext& c) {
#define MODULE_PASS(name, condition, action) \
  if (wanted == (name)) return action, true;
#include "metal/cpu/passes.def"
  return false;
}

}  // namespace metal::cpu
