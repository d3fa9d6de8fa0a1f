// Waits that leave the interpreter free and notice Ctrl-C.
#include "wait.h"

#include "mlx/interrupt.h"

namespace py = pybind11;

namespace {

// Called while waiting. Python runs signal handlers on the main thread only; elsewhere this does
// nothing.
void poll_signals() {
  py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() == 0) return;
  mlx::core::interrupt();
  throw py::error_already_set();
}

}  // namespace

void wait_interruptibly(const std::function<void()>& wait) {
  py::gil_scoped_release release;
  mlx::core::WaitPoll poll(&poll_signals);
  wait();
}
