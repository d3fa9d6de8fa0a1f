// A Python object whose last reference may be dropped on any thread.
#include "interpreter/shared_object.h"

#include "interpreter/wait.h"

struct SharedObject::Holder {
  PyObject* object;
  explicit Holder(py::object o) : object(o.release().ptr()) {}
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    // After the end of the interpreter the reference is leaked.
    if (!Py_IsInitialized()) return;
    call_with_lock([this] { Py_DECREF(object); });
  }
};

SharedObject::SharedObject(py::object object)
    : holder_(std::make_shared<Holder>(std::move(object))) {}

py::handle SharedObject::get() const { return holder_ ? holder_->object : nullptr; }
