// Waiting for results without holding the interpreter's lock, so that Ctrl-C works.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>

// Runs `wait` without the lock. Ctrl-C meanwhile stops running kernels and raises
// KeyboardInterrupt.
void wait_interruptibly(const std::function<void()>& wait);

// Runs `call` with the lock, from any thread. `call` must not throw.
void call_with_lock(const std::function<void()>& call);

// Makes waits in C++ that hold the lock, such as an extension's, release it too.
void make_all_waits_interruptible();
