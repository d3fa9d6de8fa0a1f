// Calls for a debugger.
#pragma once

#include "metal/cpu/checks/check_builder.h"

namespace metal::cpu {

// Makes the calls that the compiler has left (mark_stops.h) calls of the runtime. Those in
// functions that call themselves are dropped: the debugger does not go into these.
void place_debug_stops(CheckBuilder& builder);

}  // namespace metal::cpu
