// Runs single steps that passes.def lists.
#pragma once

#include <vector>

#include "llvm/ADT/StringRef.h"
#include "metal/compiler/analyses.h"

namespace llvm {
class GlobalVariable;
}

namespace metal::compiler {

struct TranslationUnit;

// What the steps to kernel form share besides the code.
struct FormContext {
  TranslationUnit& unit;
  Analyses analyses = Analyses();
  std::vector<llvm::GlobalVariable*> zeroed = {};  // see find_zeroed
};

// False if no step has this name.
bool run_pass(llvm::StringRef name, FormContext& c);

}  // namespace metal::compiler
