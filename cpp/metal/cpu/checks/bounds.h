// The check of bounds: accesses outside of the object that the pointer was made from.
#pragma once

#include <vector>

#include "metal/cpu/checks/accesses.h"
#include "metal/cpu/checks/discarded_reads.h"
#include "metal/cpu/checks/provenance.h"

namespace metal::cpu {

// Tests each access. What lies outside is noted, and the access goes to memory that stands in for
// it. With `deferred`, reads only count when their value is used: they come back.
std::vector<DeferredRead> check_bounds(CheckBuilder& builder, Provenances& provenances,
                                       const std::vector<Access>& accesses, bool deferred);

}  // namespace metal::cpu
