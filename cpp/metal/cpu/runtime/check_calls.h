// The calls of check_abi.h by name, for the linker.
#pragma once

#include <span>

#include "metal/cpu/runtime/runtime_calls.h"

namespace metal::cpu {

std::span<const RuntimeCall> check_calls();

}  // namespace metal::cpu
