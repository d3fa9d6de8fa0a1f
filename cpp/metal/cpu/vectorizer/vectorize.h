// From the body of a kernel to vector code for the units of one variant.
#pragma once

#include <string>

#include "metal/cpu/lower.h"

namespace metal::cpu {

class Optimizer;

// Makes the entry point, which runs a whole threadgroup. `has_barriers`: units wait for each other.
// Returns why there is no vector code, or nothing; in the first case the module is of no more use.
// `can_fetch`: whether the entry point can be called with kFetchUnit.
std::string vectorize(llvm::Function& body, const Variant& variant, bool has_barriers,
                      llvm::TargetMachine& target, Optimizer& optimizer, bool& can_fetch);

}  // namespace metal::cpu
