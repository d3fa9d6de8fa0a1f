// Stream, the context manager that selects one, and synchronisation.
#include "mlx/stream.h"

#include <optional>
#include <string>

#include "arguments.h"
#include "module.h"
#include "wait.h"

using namespace pybind11::literals;

namespace {

mx::Stream to_stream(py::handle h) {
  if (py::isinstance<mx::Stream>(h)) return h.cast<mx::Stream>();
  StreamArg arg;
  if (h.is_none() || !load_stream(h, arg.value)) {
    throw py::type_error("[stream] Expected a Stream or a Device but got " +
                         std::string(Py_TYPE(h.ptr())->tp_name) + ".");
  }
  return mx::default_stream(std::get<mx::Device>(arg.value));
}

// Makes a stream, and its device, the default for the length of a `with` block.
class StreamContext {
 public:
  explicit StreamContext(py::handle stream) : stream_(to_stream(stream)) {}

  mx::Stream enter() {
    device_.emplace(mx::default_device());
    previous_.emplace(mx::default_stream(stream_.device));
    mx::set_default_device(stream_.device);
    mx::set_default_stream(stream_);
    return stream_;
  }

  void exit() {
    if (!device_) return;
    mx::set_default_stream(*previous_);
    mx::set_default_device(*device_);
    device_.reset();
  }

 private:
  mx::Stream stream_;
  std::optional<mx::Device> device_;
  std::optional<mx::Stream> previous_;
};

std::string stream_repr(const mx::Stream& s) {
  const char* type = s.device.type == mx::Device::cpu ? "cpu" : "gpu";
  return "Stream(Device(" + std::string(type) + ", " + std::to_string(s.device.index) + "), " +
         std::to_string(s.index) + ")";
}

void define_classes(py::module_& m) {
  py::class_<mx::Stream>(m, "Stream", "A queue of work: what is in one stream runs in order.")
      .def_readonly("device", &mx::Stream::device)
      .def_readonly("index", &mx::Stream::index)
      .def("__repr__", &stream_repr)
      .def("__hash__", [](const mx::Stream& s) { return static_cast<Py_hash_t>(s.index) + 1; })
      .def("__eq__",
           [](const mx::Stream& s, py::handle o) {
             return py::isinstance<mx::Stream>(o) && s == o.cast<mx::Stream>();
           })
      .def("__ne__", [](const mx::Stream& s, py::handle o) {
        return !py::isinstance<mx::Stream>(o) || s != o.cast<mx::Stream>();
      });
  py::class_<StreamContext>(m, "StreamContext",
                            "Selects the default device and stream for a `with` block.")
      .def(py::init<py::handle>(), "s"_a)
      .def("__enter__", &StreamContext::enter)
      .def("__exit__", [](StreamContext& c, const py::args&) { c.exit(); });
}

}  // namespace

void init_stream(py::module_& m) {
  define_classes(m);
  m.def(
      "default_stream", [](const mx::Device& d) { return mx::default_stream(d); }, "device"_a,
      "The stream that a device uses by default.");
  m.def(
      "set_default_stream", [](const mx::Stream& s) { mx::set_default_stream(s); }, "stream"_a,
      "Makes `stream` the default of its device.");
  m.def(
      "new_stream", [](const mx::Device& d) { return mx::new_stream(d); }, "device"_a,
      "Makes a new stream on a device.");
  m.def(
      "stream", [](py::handle s) { return StreamContext(s); }, "s"_a,
      "A context manager: operations inside run on the stream or device `s` by default.");
  m.def(
      "synchronize",
      [](StreamArg stream) {
        wait_interruptibly([&] {
          if (auto* s = std::get_if<mx::Stream>(&stream.value)) {
            mx::synchronize(*s);
          } else if (auto* d = std::get_if<mx::Device>(&stream.value)) {
            mx::synchronize(mx::default_stream(*d));
          } else {
            mx::synchronize();
          }
        });
      },
      "stream"_a = py::none(),
      "Waits until the work of a stream (by default the default stream) is done.");
}
