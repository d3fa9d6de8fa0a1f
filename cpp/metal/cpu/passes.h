// Runs the steps that passes.def lists.
#pragma once

#include <string>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/PassManager.h"
#include "metal/compiler/compiler.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/variant.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace llvm {
class TargetMachine;
}

namespace metal::cpu {

class Optimizer;

// What the steps need besides the code to make a body from a kernel, and scalar code from a body.
struct KernelContext {
  const FunctionInfo& function;
  const ConstantValues& constants;
  Optimizer& optimizer;
  llvm::TargetMachine& target;
  BodyForm form = {};
  bool threads_wait = false;    // there are barriers or SIMD-group functions
  bool records_thread = false;  // scalar code records the running thread in Group::thread
  Checks checks = kNoChecks;
  bool screened = false;           // see Variant
  llvm::Function* body = nullptr;  // the result of "make-body"
};

// What the steps of the vectoriser need besides the code.
struct PassContext {
  BodyShapes shapes;
  Optimizer& optimizer;
  llvm::TargetMachine& target;
  bool has_barriers = false;      // gangs wait for each other
  bool separate_buffers = false;  // see Variant
  bool prefetches = true;         // false for a prefetch slice
  bool is_interchanged = false;   // the code seldom runs: see interchange_loop.h
  bool may_bail_out = false;      // the code may be speculative: see assume_coherent.h
  unsigned lane_argument = kLaneArgument;
  unsigned active_argument = kActiveArgument;
  bool reads_rows = false;  // the result of "unroll-rows"
  // The results of "widen": the code of a gang, made from that of a lane, or why there is none.
  llvm::Function* wide = nullptr;
  std::string why_not = {};

  llvm::FunctionAnalysisManager& analyses();
  llvm::TargetTransformInfo costs(const llvm::Function& code) const;
  llvm::Argument& lane(llvm::Function& code) const { return *code.getArg(lane_argument); }
  llvm::Argument& active(llvm::Function& code) const { return *code.getArg(active_argument); }
  Variant full_gangs() const { return {ThreadLayout::Full, shapes.width}; }
  // Of a threadgroup that has four rows of one gang.
  Variant rows_of_gangs() const {
    return {.layout = ThreadLayout::Full, .width = shapes.width, .gangs_in_row = 1, .rows = 4};
  }
  // Of a threadgroup that is a row of eight gangs.
  Variant gangs_of_row() const {
    return {.layout = ThreadLayout::Full, .width = shapes.width, .gangs_in_row = 8, .rows = 1};
  }
  // Of four SIMD-groups beside each other.
  Variant gangs_beside() const {
    return {.layout = ThreadLayout::Full, .width = shapes.width, .gangs_at_once = 4};
  }
  // Of independent threads.
  Variant row_of_threads() const { return {ThreadLayout::Rows, shapes.width}; }
  // Of a threadgroup that has four rows and four layers.
  Variant columns_of_threads() const {
    return {.layout = ThreadLayout::Rows,
            .width = shapes.width,
            .rows_at_once = 4,
            .layers_at_once = 4};
  }
};

void run_kernel_passes(llvm::Module& code, KernelContext& c);
void run_scalar_passes(llvm::Module& code, KernelContext& c);
void run_thread_passes(llvm::Function& code, PassContext& c);
void run_gang_passes(llvm::Function& code, PassContext& c);
void run_module_passes(llvm::Module& code, PassContext& c);

// Runs one step, whatever its condition. False if none has this name.
bool run_pass(llvm::StringRef name, llvm::Module& code, KernelContext& c);
bool run_pass(llvm::StringRef name, llvm::Function& code, PassContext& c);
bool run_pass(llvm::StringRef name, llvm::Module& code, PassContext& c);

}  // namespace metal::cpu
