// A stamp of 64 bits says when and by which thread memory was touched: what the screen of races
// (screen_races.h) keeps of the last write and the last read of a place.
#pragma once

#include <cstdint>

namespace metal::cpu {

// From the lowest bit on: the thread in its threadgroup; whether more threads than this one did it;
// how many barriers of its SIMD-group and of its threadgroup the thread had passed; and the number
// of the threadgroup, from 1 on, so that 0 is no stamp.
inline constexpr unsigned kStampThreadBits = 10;
inline constexpr unsigned kStampLaneShift = 11;
inline constexpr unsigned kStampLaneBits = 11;
inline constexpr unsigned kStampPhaseShift = 22;
inline constexpr unsigned kStampPhaseBits = 16;
inline constexpr unsigned kStampGroupShift = 38;
inline constexpr unsigned kStampGroupBits = 26;

inline constexpr uint64_t kStampMany = uint64_t{1} << kStampThreadBits;
inline constexpr uint64_t kStampWho = 2 * kStampMany - 1;  // the thread, or many
inline constexpr uint64_t kStampSimdgroup = 31U << 5;      // of the thread
inline constexpr uint64_t kStampLane = ((uint64_t{1} << kStampLaneBits) - 1) << kStampLaneShift;
inline constexpr uint64_t kStampPhase = ((uint64_t{1} << kStampPhaseBits) - 1) << kStampPhaseShift;
// Of device memory that threads of several threadgroups have read.
inline constexpr uint64_t kStampAll = ~uint64_t{0};

// As many bytes have one stamp at most.
inline constexpr uint64_t kStampGranule = 8;

}  // namespace metal::cpu
