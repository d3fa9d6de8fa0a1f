// Runs the steps that passes.def lists.
#pragma once

#include <string>

#include "llvm/IR/PassManager.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace llvm {
class TargetMachine;
}

namespace metal::cpu {

class Optimizer;

// What passes know besides the code.
struct PassContext {
  BodyShapes shapes;
  Optimizer& optimizer;
  llvm::TargetMachine& target;
  bool has_barriers = false;  // gangs wait for each other
  bool prefetches = true;     // not where the function is itself a prefetch slice
  bool may_bail_out = false;  // the gang's code may: see assume_coherent.h
  unsigned lane_argument = kLaneArgument;
  unsigned active_argument = kActiveArgument;
  // What "widen" leaves: the code of a gang instead of the code of a lane, or why there is none.
  llvm::Function* wide = nullptr;
  std::string why_not = {};

  llvm::FunctionAnalysisManager& analyses();
  llvm::Argument& lane(llvm::Function& code) const { return *code.getArg(lane_argument); }
  llvm::Argument& active(llvm::Function& code) const { return *code.getArg(active_argument); }
};

void run_thread_passes(llvm::Function& code, PassContext& c);
void run_gang_passes(llvm::Function& code, PassContext& c);
void run_module_passes(llvm::Module& code, PassContext& c);

// Runs one of them, whatever its condition says. False if none has this name.
bool run_pass(llvm::StringRef name, llvm::Function& code, PassContext& c);
bool run_pass(llvm::StringRef name, llvm::Module& code, PassContext& c);

}  // namespace metal::cpu
