// Stream, the context manager that selects one, and synchronisation.
#include "mlx/stream.h"

#include <optional>
#include <string>

#include "convert/arguments.h"
#include "convert/convert.h"
#include "interpreter/wait.h"
#include "module.h"

using namespace pybind11::literals;

namespace {

const char* const kDefaultStreamDoc = R"(default_stream(device: Device | DeviceType) -> Stream

Finds the stream that a device uses by default.

Args:
    device: The device.

Returns:
    The stream.)";

const char* const kSetDefaultStreamDoc = R"(Makes a stream the default of its device.

Args:
    stream: The stream.)";

const char* const kNewStreamDoc = R"(new_stream(device: Device | DeviceType) -> Stream

Makes a new stream on a device.

Args:
    device: The device.

Returns:
    The stream.)";

const char* const kNewThreadUnsafeStreamDoc =
    R"(new_thread_unsafe_stream(device: Device | DeviceType) -> Stream

Makes a new stream that any thread may use, as it may every stream of this package.

Args:
    device: The device.

Returns:
    The stream.)";

const char* const kNewThreadLocalStreamDoc =
    R"(new_thread_local_stream(device: Device | DeviceType) -> ThreadLocalStream

Makes a handle that means a different stream in each thread.

Args:
    device: The device.

Returns:
    The handle, which operations take as a stream.)";

const char* const kStreamDoc =
    R"(stream(s: Stream | ThreadLocalStream | Device | DeviceType) -> StreamContext

Makes a stream, and its device, the default inside of a `with` block.

Args:
    s: The stream; a device means its default stream.

Returns:
    The context manager.

Example:
    >>> with mx.stream(mx.cpu):
    ...     mx.default_device()
    Device(cpu, 0))";

const char* const kSynchronizeDoc = R"(Waits until the work of a stream is done.

Args:
    stream: The stream. None means the default stream of the default device.)";

mx::Stream to_stream(py::handle h) {
  StreamArg arg;
  if (h.is_none() || !load_stream(h, arg.value)) {
    throw py::type_error("[stream] Expected a Stream or a Device but got " + type_name(h) + ".");
  }
  return mx::to_stream(arg.value);
}

// Makes a stream and its device the default in a `with` block.
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

template <typename AnyStream>
std::string stream_repr(const std::string& name, const AnyStream& s) {
  const char* type = s.device.type == mx::Device::cpu ? "cpu" : "gpu";
  return name + "(Device(" + type + ", " + std::to_string(s.device.index) + "), " +
         std::to_string(s.index) + ")";
}

template <typename AnyStream>
void define_stream_class(py::module_& m, const std::string& name, const char* doc) {
  py::class_<AnyStream>(m, name.c_str(), doc)
      .def_readonly("device", &AnyStream::device, "Device: The device that the stream belongs to.")
      .def_readonly("index", &AnyStream::index, "int: The number of the stream.")
      .def("__repr__", [name](const AnyStream& s) { return stream_repr(name, s); })
      .def("__hash__", [](const AnyStream& s) { return static_cast<Py_hash_t>(s.index) + 1; })
      .def("__eq__",
           [](const AnyStream& s, py::handle o) {
             return py::isinstance<AnyStream>(o) && s == o.cast<AnyStream>();
           })
      .def("__ne__", [](const AnyStream& s, py::handle o) {
        return !py::isinstance<AnyStream>(o) || s != o.cast<AnyStream>();
      });
}

void define_stream_classes(py::module_& m) {
  define_stream_class<mx::Stream>(m, "Stream",
                                  "A queue of work: what is in one stream runs in order.");
  define_stream_class<mx::ThreadLocalStream>(
      m, "ThreadLocalStream", "Stands for a stream of its own in each thread that uses it.");
  py::class_<StreamContext>(m, "StreamContext",
                            "Selects the default device and stream for a `with` block.")
      .def(py::init<py::handle>(), "s"_a,
           "__init__(self, s: Stream | ThreadLocalStream | Device | DeviceType) -> None\n\nArgs:\n "
           "   s: The stream to "
           "select; a device "
           "means its default stream.")
      .def("__enter__", &StreamContext::enter, "__enter__(self) -> Stream\n\nSelects the stream.")
      .def(
          "__exit__", [](StreamContext& c, const py::args&) { c.exit(); },
          "__exit__(self, *exception: object) -> None\n\nSelects what was the default before.");
}

}  // namespace

void init_stream(py::module_& m) {
  define_stream_classes(m);
  m.def(
      "default_stream", [](const mx::Device& d) { return mx::default_stream(d); }, "device"_a,
      kDefaultStreamDoc);
  m.def(
      "set_default_stream", [](const mx::Stream& s) { mx::set_default_stream(s); }, "stream"_a,
      kSetDefaultStreamDoc);
  m.def(
      "new_stream", [](const mx::Device& d) { return mx::new_stream(d); }, "device"_a,
      kNewStreamDoc);
  m.def(
      "new_thread_unsafe_stream",
      [](const mx::Device& d) { return mx::new_thread_unsafe_stream(d); }, "device"_a,
      kNewThreadUnsafeStreamDoc);
  m.def(
      "new_thread_local_stream", [](const mx::Device& d) { return mx::new_thread_local_stream(d); },
      "device"_a, kNewThreadLocalStreamDoc);
  m.def(
      "clear_streams", [] { wait_interruptibly([] { mx::clear_streams(); }); },
      "Waits for the streams that this thread has made, and destroys them. Streams that are a "
      "device's default stay.");
  m.def("stream", [](py::handle s) { return StreamContext(s); }, "s"_a, kStreamDoc);
  m.def(
      "synchronize",
      [](StreamArg stream) {
        const mx::Stream s = mx::to_stream(stream.value);
        wait_interruptibly([&] { mx::synchronize(s); });
      },
      "stream"_a = py::none(), kSynchronizeDoc);
}
