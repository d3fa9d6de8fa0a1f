// A wait that keeps the thread running, for events that come within microseconds.
#pragma once

#include <chrono>
#include <thread>

namespace metal {

// Waking a thread takes as long as a few small kernels, so a waiting thread spins for a moment.
// That should cover the time that a program needs between two kernels.
inline constexpr auto kSpinTime = std::chrono::microseconds(50);

// Returns when the condition is true, or after that time. Yields to threads that have work.
template <typename Condition>
void spin_until(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  while (!condition() && std::chrono::steady_clock::now() <= end) std::this_thread::yield();
}

}  // namespace metal
