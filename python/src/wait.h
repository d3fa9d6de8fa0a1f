// Waiting for results without holding the interpreter's lock, so that Ctrl-C works.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>

// Runs `wait` without the lock. Ctrl-C during it stops running kernels and raises
// KeyboardInterrupt.
void wait_interruptibly(const std::function<void()>& wait);
