// Lets the process end only when no thread uses LLVM or oneTBB any more.
#include "metal/process_end.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "metal/driver.h"

namespace metal {
namespace {

constexpr auto kLongest = std::chrono::seconds(30);  // for work that cannot be interrupted

std::atomic<int> users{0};
std::atomic<bool> ending{false};

void register_exit_handler() {
  static const bool once = [] {
    pthread_atfork(nullptr, nullptr, [] { users = 0; });  // threads do not survive
    return std::atexit(end_use) == 0;
  }();
  (void)once;
}

// Handlers run in reverse order: objects that the first use created are destroyed after this one
// waits.
void register_late_exit_handler() {
  static const bool once = std::atexit(end_use) == 0;
  (void)once;
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
  register_exit_handler();
  ++users;
}

InUse::~InUse() {
  register_late_exit_handler();
  --users;
}

void InUse::check() {
  if (ending) throw std::runtime_error("The process ends: nothing is started any more");
}

}  // namespace metal
