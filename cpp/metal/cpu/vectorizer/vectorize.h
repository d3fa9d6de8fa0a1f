// From the body of a kernel to vector code for the units of one variant.
#pragma once

#include <string>

#include "metal/cpu/lower.h"

namespace metal::cpu {

class Optimizer;

struct Vectorized {
  std::string why_not = {};  // empty where there is vector code; else the module is of no more use
  bool fetches = false;      // the entry point wants to know Group::next
};

// Makes the entry point, which runs a whole threadgroup. `has_barriers`: units wait for each other.
Vectorized vectorize(llvm::Function& body, const Variant& variant, bool has_barriers,
                     llvm::TargetMachine& target, Optimizer& optimizer);

}  // namespace metal::cpu
