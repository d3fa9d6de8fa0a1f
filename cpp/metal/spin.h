// A wait that keeps the thread awake, for what comes within microseconds.
#pragma once

#include <chrono>
#include <thread>

namespace metal {

// Waking a thread takes as long as a few small kernels run: who waits stays awake for a moment,
// which should cover what a program does between two of them.
inline constexpr auto kSpinTime = std::chrono::microseconds(50);

// Returns when the condition has come true, or that moment is over. Threads with work go first.
template <typename Condition>
void spin_until(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  while (!condition() && std::chrono::steady_clock::now() <= end) std::this_thread::yield();
}

}  // namespace metal
