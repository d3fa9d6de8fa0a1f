// Statistics and limits of the memory that arrays use.
#include "mlx/memory.h"

#include "module.h"
#include "transforms/trees.h"

using namespace pybind11::literals;

const char* const kMemoryLimitDoc =
    R"(Sets the guideline for the memory in use. Beyond it, evaluation waits for work in flight, and freed memory
is not kept. Allocations fail only when the machine's memory is used up.

Args:
    limit: The number of bytes.

Returns:
    The last guideline, in bytes.)";

const char* const kCacheLimitDoc = R"(Sets how many free bytes are kept for reuse.

Args:
    limit: The number of bytes. 0 keeps nothing.

Returns:
    The last limit, in bytes.)";

const char* const kBufferSizeDoc = R"(get_array_buffer_size(*args: object) -> int

Tells how many bytes the buffers of arrays have. A buffer that several of them share counts once.

Args:
    *args: Arrays that have been evaluated, or trees of them: lists, tuples and dictionaries.

Returns:
    The number of bytes. It may be more than the elements need.)";

const char* const kWiredLimitDoc = R"(Sets the limit of wired memory. It has no effect here.

Args:
    limit: The number of bytes, at most `max_recommended_working_set_size` of `device_info`.

Returns:
    The last limit, in bytes.)";

void define_memory(py::module_& m) {
  m.def("get_active_memory", &mx::get_active_memory,
        "Tells how many bytes arrays use. Memory that is kept for reuse is not "
        "counted.\n\nReturns:\n    The number of bytes.");
  m.def("get_peak_memory", &mx::get_peak_memory,
        "Tells the most bytes that arrays have used since the start or the last "
        "reset.\n\nReturns:\n    The number of bytes.");
  m.def("reset_peak_memory", &mx::reset_peak_memory,
        "Sets the peak of `get_peak_memory` to 0. The next allocation counts all memory in use.");
  m.def("get_cache_memory", &mx::get_cache_memory,
        "Tells how many free bytes are kept for reuse.\n\nReturns:\n    The number of bytes.");
  m.def("set_memory_limit", &mx::set_memory_limit, "limit"_a, kMemoryLimitDoc);
  m.def("get_memory_limit", &mx::get_memory_limit,
        "Tells the guideline for the memory in use.\n\nReturns:\n    The number of bytes.");
  m.def("set_cache_limit", &mx::set_cache_limit, "limit"_a, kCacheLimitDoc);
  m.def("set_wired_limit", &mx::set_wired_limit, "limit"_a, kWiredLimitDoc);
  m.def("clear_cache", &mx::clear_cache,
        "Gives the free memory that is kept for reuse back to the system.");
}

void init_memory(py::module_& m) {
  define_memory(m);
  m.def(
      "get_array_buffer_size",
      [](const py::args& args) { return mx::get_array_buffer_size(tree_flatten(args)); },
      kBufferSizeDoc);
}
