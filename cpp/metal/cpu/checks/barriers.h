// The check of barriers: whether all threads come to them.
#pragma once

#include <vector>

#include "metal/cpu/checks/check_builder.h"

namespace metal::cpu {

// A barrier, or a function that the lanes of a SIMD-group call together.
struct Meeting {
  llvm::CallInst* call;
  const char* name;       // for the user
  llvm::Value* scope;     // as __metal_barrier has it
  bool orders;            // accesses to memory, whatever flags it has
  bool of_lanes() const;  // of one SIMD-group
};

// Functions that read the elements of all lanes are barriers of the SIMD-group. Barriers that the
// compiler has put in for order are none: the kernel does not have them.
std::vector<Meeting> find_meetings(llvm::Function& kernel);

// Announces each barrier, each function that the lanes of a SIMD-group must call together, and the
// branches on which it depends who comes there.
void check_barriers(CheckBuilder& builder);

}  // namespace metal::cpu
