// The handlers of signals that kernel code and the compiler raise, in one place for both.
#pragma once

#include <csignal>
#include <initializer_list>

#include "metal/sanitizers.h"

namespace metal {

// Sent to a thread that runs a kernel of a stopped dispatch.
#ifdef METAL_TSAN
inline const int kStopSignal = SIGSYS;  // ThreadSanitizer delays others until the next system call
#else
inline const int kStopSignal = SIGRTMAX - 5;
#endif

// Whether the signal was meant for this handler; if not, the next one is asked.
using SignalHandler = bool (*)(int signal, siginfo_t* info, void* context);

// Handlers are asked in the order in which they were added, which each is once per process. A
// signal that none of them wants goes to whoever handled it before.
void add_signal_handler(std::initializer_list<int> signals, SignalHandler handler);

}  // namespace metal
