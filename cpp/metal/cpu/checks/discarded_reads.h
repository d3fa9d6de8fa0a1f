// Reads outside of objects whose value is discarded do no harm on a GPU.
#pragma once

#include <vector>

#include "metal/cpu/checks/check_builder.h"

namespace metal::cpu {

// Whether the instruction's result is a function of its operands, and nothing else happens.
bool passes_on(const llvm::Instruction& instruction);

struct DeferredRead {
  llvm::Instruction* value;
  llvm::Value* finding;  // its number, or whether there is one: 0 if the read is in order
};

// Follows values of these reads through arithmetic and choices, together with the number of the
// finding, to what they have an effect on: a store, an address, a branch, another thread. Only then
// the finding counts. A value that is not chosen is discarded.
void report_used_reads(CheckBuilder& builder, const std::vector<DeferredRead>& reads);

}  // namespace metal::cpu
