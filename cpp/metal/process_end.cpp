// Lets the process end only when no thread uses LLVM or oneTBB any more.
#include "metal/process_end.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "metal/driver.h"

namespace metal {
namespace {

constexpr auto kLongest = std::chrono::seconds(30);  // for work that cannot be interrupted

std::atomic<int> users{0};
std::atomic<bool> ending{false};

// A fork waits while a thread registers a handler: the C library's lock around that, or one around
// the initialisation of a static object, would stay taken in the child.
std::mutex registration;
const int fork_handlers = pthread_atfork([] { registration.lock(); }, [] { registration.unlock(); },
                                         [] {
                                           users = 0;  // threads do not survive
                                           registration.unlock();
                                         });

std::atomic<bool> waits_at_exit{false}, waits_early_at_exit{false};

void wait_at_exit(std::atomic<bool>& registered) {
  if (registered.load()) return;
  const std::lock_guard lock(registration);
  if (!registered.exchange(true)) std::atexit(end_use);
}

}  // namespace

void end_use() {
  ending = true;  // from here on no work starts
  if (users.load() == 0) return;
  interrupt();
  const auto start = std::chrono::steady_clock::now();
  while (users.load() > 0 && std::chrono::steady_clock::now() - start < kLongest) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

InUse::InUse() {
  wait_at_exit(waits_at_exit);
  ++users;
}

InUse::~InUse() {
  // Handlers run in reverse order: objects that the first use created are destroyed after this one
  // waits.
  wait_at_exit(waits_early_at_exit);
  --users;
}

void InUse::check() {
  if (ending) throw std::runtime_error("The process ends: nothing is started any more");
}

}  // namespace metal
