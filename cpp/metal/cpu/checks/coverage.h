// Coverage: counts of the blocks and branches that threads run, and of the memory that they touch.
#pragma once

#include <vector>

#include "metal/cpu/checks/accesses.h"
#include "metal/cpu/checks/check_builder.h"

namespace metal::cpu {

void count_coverage(CheckBuilder& builder, const std::vector<Access>& accesses);

}  // namespace metal::cpu
