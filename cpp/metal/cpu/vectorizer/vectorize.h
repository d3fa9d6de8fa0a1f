// Turns the body of a kernel into vector code for the gangs of one variant.
#pragma once

#include <string>

#include "metal/cpu/codegen/lower.h"

namespace metal::cpu {

class Optimizer;

struct Vectorized {
  std::string why_not = {};  // empty if there is vector code; otherwise the module must not be used
  bool prefetches = false;   // the entry point reads Group::next
  bool interchanges = false;  // see interchange_loop.h
  std::string general = {};   // bitcode of the unfinished GeneralCode that the entry point calls
};

// Makes the entry point, which runs a whole threadgroup. `has_barriers`: gangs wait for each other.
Vectorized vectorize(llvm::Function& body, const Variant& variant, bool has_barriers,
                     llvm::TargetMachine& target, Optimizer& optimizer);

// Runs the remaining steps on general code.
void finish_vector_code(llvm::Module& module, llvm::TargetMachine& target, Optimizer& optimizer);

}  // namespace metal::cpu
