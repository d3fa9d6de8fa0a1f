// The check of barriers: whether all threads reach them.
#pragma once

#include <vector>

#include "metal/cpu/checks/check_builder.h"

namespace metal::cpu {

// A barrier, or a function that the lanes of a SIMD-group call together.
struct Barrier {
  llvm::CallInst* call;
  const char* name;       // for the user
  llvm::Value* scope;     // as __metal_barrier has it
  bool orders;            // accesses to memory, whatever flags it has
  bool of_lanes() const;  // of one SIMD-group
};

// Functions that read the elements of all lanes are barriers of the SIMD-group. Barriers that the
// compiler has put in for order are none: the kernel does not have them.
std::vector<Barrier> find_barriers(llvm::Function& kernel);

// Announces each barrier, each function that the lanes of a SIMD-group must call together, and the
// branches that decide which threads reach it.
void check_barriers(CheckBuilder& builder);

}  // namespace metal::cpu
