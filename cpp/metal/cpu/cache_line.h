// The length of a cache line of the processors that code is generated for.
#pragma once

#include <cstdint>

namespace metal::cpu {

inline constexpr uint64_t kCacheLine = 64;  // bytes

}  // namespace metal::cpu
