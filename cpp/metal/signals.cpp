#include "metal/signals.h"

#include <atomic>
#include <mutex>

namespace metal {
namespace {

constexpr int kMaxHandlers = 2;  // for each signal: that of kernels and that of the compiler

std::atomic<SignalHandler> handlers[NSIG][kMaxHandlers];
struct sigaction previous_actions[NSIG];

// Does what would happen without these handlers. A default action happens when the instruction runs
// again.
void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& previous = previous_actions[signal];
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
    // A fault cannot be ignored, as the instruction would fault again.
    sigaction(signal, &previous, nullptr);
    if (info->si_code <= 0) raise(signal);  // sent by a process: nothing runs again
  } else {
    previous.sa_handler(signal);
  }
}

void on_signal(int signal, siginfo_t* info, void* context) {
  for (const auto& place : handlers[signal]) {
    const SignalHandler handler = place.load();
    if (handler && handler(signal, info, context)) return;
  }
  pass_on(signal, info, context);
}

void install(int signal) {
  struct sigaction action{};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  // Blocks stop signals in the handler: leaving a kernel from such a signal would keep the fault's
  // signal blocked.
  sigaddset(&action.sa_mask, kStopSignal);
  sigaction(signal, &action, &previous_actions[signal]);
}

}  // namespace

void add_signal_handler(std::initializer_list<int> signals, SignalHandler handler) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  for (const int signal : signals) {
    const bool is_first = handlers[signal][0].load() == nullptr;
    for (auto& place : handlers[signal]) {
      SignalHandler none = nullptr;
      if (place.compare_exchange_strong(none, handler)) break;
    }
    if (is_first) install(signal);
  }
}

}  // namespace metal
