// One place for the handlers of signals that kernel code and the compiler raise.
#pragma once

#include <csignal>
#include <initializer_list>

#include "metal/api.h"
#include "metal/sanitizers.h"

namespace metal {

// Sent to a thread that runs a kernel of a stopped dispatch.
#ifdef METAL_TSAN
inline const int kStopSignal = SIGSYS;  // ThreadSanitizer delays others to the next system call
#else
inline const int kStopSignal = SIGRTMAX - 5;
#endif

// Returns whether it has handled the signal. If not, the next handler is called.
using SignalHandler = bool (*)(int signal, siginfo_t* info, void* context);

// Adds a handler, which may be added only once. Handlers are called in the order in which they were
// added. If none handles a signal, the previous handler of the process does.
METAL_API void add_signal_handler(std::initializer_list<int> signals, SignalHandler handler);

}  // namespace metal
