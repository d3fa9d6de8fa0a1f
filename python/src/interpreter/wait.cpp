// Waits that release the interpreter's lock and react to Ctrl-C.
#include "interpreter/wait.h"

#include <cxxabi.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <string>

#include "mlx/backend/metal/checks.h"
#include "mlx/interrupt.h"

namespace py = pybind11;

namespace {

std::atomic<unsigned long> main_thread{0};

// Before 3.14, an ending interpreter terminates threads that want its lock by unwinding their
// stack, which C++ frames do not survive. Such threads sleep here until the process has ended,
// which is what Python 3.14 does.
template <typename Take>
void take_lock(Take take) {
  try {
    take();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
}

// Called while waiting. Python runs signal handlers on the main thread only.
void poll_signals() {
  if (PyThread_get_thread_ident() != main_thread) return;
  py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() == 0) return;
  mlx::core::interrupt();
  throw py::error_already_set();
}

void wait_without_lock(const std::function<void()>& wait) {
  bool holds_lock = Py_IsInitialized() && PyGILState_Check();
  holds_lock ? wait_interruptibly(wait) : wait();
}

// Reports of checked kernels, if these are no errors.
void warn_of_findings() {
  for (const std::string& text : mlx::core::metal::take_check_warnings()) {
    if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) throw py::error_already_set();
  }
}

// The thread that forks is the main thread of the child.
void note_main_thread() { main_thread = PyThread_get_thread_ident(); }

}  // namespace

void make_all_waits_interruptible() {
  main_thread =
      py::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
  pthread_atfork(nullptr, nullptr, &note_main_thread);
  mlx::core::set_around_waits(&wait_without_lock);
}

void wait_interruptibly(const std::function<void()>& wait) {
  PyThreadState* const state = PyEval_SaveThread();
  std::exception_ptr error;
  try {
    mlx::core::WaitPoll poll(&poll_signals);
    wait();
  } catch (...) {
    error = std::current_exception();
  }
  take_lock([&] { PyEval_RestoreThread(state); });
  if (error) std::rethrow_exception(error);
  warn_of_findings();
}

void call_with_lock(const std::function<void()>& call) {
  PyGILState_STATE state{};
  take_lock([&] { state = PyGILState_Ensure(); });
  call();
  PyGILState_Release(state);
}
