// The check of order: what its runs must know of what threads do.
#pragma once

#include <vector>

#include "metal/cpu/checks/accesses.h"
#include "metal/cpu/checks/check_builder.h"

namespace metal::cpu {

// Announces writes to device memory, and additions that atomics make to floats.
void check_order(CheckBuilder& builder, const std::vector<Access>& accesses);

}  // namespace metal::cpu
