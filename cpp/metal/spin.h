// Waiting for what will come soon.
#pragma once

#include <chrono>
#include <thread>

namespace metal {

// Waking a thread takes as long as a few small kernels run: who waits stays awake for a moment,
// which should cover what a program does between two of them.
inline constexpr auto kSpinTime = std::chrono::microseconds(50);

// Whether the condition came true in that moment. Threads that have work to do go first.
template <typename Condition>
bool spin_until(Condition condition) {
  const auto start = std::chrono::steady_clock::now();
  while (!condition()) {
    if (std::chrono::steady_clock::now() - start > kSpinTime) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace metal
