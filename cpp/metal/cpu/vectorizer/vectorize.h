// From the body of a kernel to vector code for the units of one variant.
#pragma once

#include <string>

#include "metal/cpu/lower.h"

namespace metal::cpu {

class Optimizer;

// Makes the entry point. `each_unit`: it runs one unit, not all of a threadgroup. Returns why there
// is no vector code, or nothing; then the module is of no more use.
std::string vectorize(llvm::Function& body, const Variant& variant, bool each_unit,
                      llvm::TargetMachine& target, Optimizer& optimizer);

}  // namespace metal::cpu
