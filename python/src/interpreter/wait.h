// Waiting for results without holding the interpreter's lock, so that Ctrl-C works.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>

// Runs `wait` without the lock. Ctrl-C during it stops running kernels and raises
// KeyboardInterrupt.
void wait_interruptibly(const std::function<void()>& wait);

// From a thread that may not be the interpreter's. `call` must not throw.
void call_with_lock(const std::function<void()>& call);

// Makes waits of C++ that was called with the lock, such as an extension's, do so too.
void make_all_waits_interruptible();
