// The check of races: unordered accesses of two threads to one place.
#pragma once

#include <vector>

#include "metal/cpu/checks/accesses.h"
#include "metal/cpu/checks/provenance.h"

namespace metal::cpu {

// Announces each access to memory that threads share, and each fence.
void check_races(CheckBuilder& builder, Provenances& provenances,
                 const std::vector<Access>& accesses);

}  // namespace metal::cpu
