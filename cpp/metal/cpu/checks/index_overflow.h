// The check of numbers: integers of 32 bits that wrap around on their way to an index.
#pragma once

#include <vector>

#include "metal/cpu/checks/accesses.h"
#include "metal/cpu/checks/check_builder.h"
#include "metal/cpu/checks/provenance.h"

namespace metal::cpu {

// Computes the sums, differences and products of which an index of an access consists once more in
// 64 bits. An index counts as wrapped if no reading of what the sums begin with, as signed or
// unsigned numbers, gives it: `i + offset` with a negative offset has not wrapped. What goes
// through other operations (`%`, `&`, `>>`) may wrap before.
void check_indices(CheckBuilder& builder, Provenances& provenances,
                   const std::vector<Access>& accesses);
// For a screen: one reading only.
void screen_indices(CheckBuilder& builder, const std::vector<Access>& accesses);

}  // namespace metal::cpu
