// Threads that stay alive between calls and share the parts of a loop.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

class Threads {
 public:
  static Threads& all() {
    static auto* threads = new Threads(std::max(1u, std::thread::hardware_concurrency()));
    return *threads;
  }

  // Calls work(part) for each part; the caller waits only for parts that others have begun.
  template <typename Work>
  void share(uint32_t parts, const Work& work) {
    const uint64_t round = (state_ >> 32) + 1;
    state_ = round << 32 | kClosed;  // nobody takes a part while these change
    call_ = [](const void* work, uint32_t part) { (*static_cast<const Work*>(work))(part); };
    work_ = &work;
    parts_ = parts;
    done_ = 0;
    state_ = (round + 1) << 32;
    ++round_;
    round_.notify_all();
    help();
    for (uint32_t done; (done = done_) != parts;) done_.wait(done);
  }

  // Calls work(first, last) for runs of at most `grain` out of `count`.
  template <typename Work>
  void share_runs(long count, long grain, const Work& work) {
    share(static_cast<uint32_t>((count + grain - 1) / grain),
          [&](uint32_t part) { work(part * grain, std::min(count, (part + 1) * grain)); });
  }

 private:
  static constexpr uint32_t kClosed = ~0u;
  using Call = void (*)(const void*, uint32_t);

  explicit Threads(unsigned count) {
    for (unsigned i = 1; i < count; ++i) std::thread([this] { serve(); }).detach();
  }

  void serve() {
    for (;;) {
      const uint32_t seen = round_;
      help();
      round_.wait(seen);
    }
  }

  // The exchange succeeds only if the round is still the one that the fields were read in.
  void help() {
    for (uint64_t state = state_;;) {
      const Call call = call_;
      const void* work = work_;
      const auto part = static_cast<uint32_t>(state);
      if (part >= parts_) return;
      if (!state_.compare_exchange_strong(state, state + 1)) continue;
      call(work, part);
      ++done_;
      done_.notify_all();
      state = state_;
    }
  }

  std::atomic<uint64_t> state_{kClosed};  // the round, and the next part to take
  std::atomic<uint32_t> round_{0}, parts_{0}, done_{0};
  std::atomic<Call> call_{nullptr};
  std::atomic<const void*> work_{nullptr};
};
