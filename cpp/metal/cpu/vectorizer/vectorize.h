// Turns the body of a kernel into vector code for the gangs of one variant.
#pragma once

#include <string>

#include "metal/cpu/codegen/lower.h"

namespace metal::cpu {

class Optimizer;

struct Vectorized {
  std::string why_not = {};  // empty where there is vector code; else the module is of no more use
  bool prefetches = false;   // the entry point wants to know Group::next
  std::string general = {};  // bitcode of what the entry point calls as GeneralCode, not finished
};

// Makes the entry point, which runs a whole threadgroup. `has_barriers`: gangs wait for each other.
Vectorized vectorize(llvm::Function& body, const Variant& variant, bool has_barriers,
                     llvm::TargetMachine& target, Optimizer& optimizer);

// What remains to be done to general code.
void finish_vector_code(llvm::Module& module, llvm::TargetMachine& target, Optimizer& optimizer);

}  // namespace metal::cpu
