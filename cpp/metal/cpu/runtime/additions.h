// A worker's deferred atomic additions to floats. They wait from one threadgroup to the next,
// because the kernel uses their memory in no other way.
#pragma once

#include "metal/cpu/abi.h"

namespace metal::cpu {

// Empties the lists. If no addition may be deferred, each one fills its list.
void start_additions(Additions& additions, bool may_defer);

// Reads the places of this threadgroup's additions, so that a wrong address faults while the
// threadgroup runs, and before a lock is taken.
void end_threadgroup(Additions& additions);

// Makes the additions of threadgroups that have ended.
void make_additions(Additions& additions);

}  // namespace metal::cpu

extern "C" {

// For generated code: makes all additions of a worker that runs a kernel.
void metal_cpu_make_additions(const metal::cpu::Group* group);
}
