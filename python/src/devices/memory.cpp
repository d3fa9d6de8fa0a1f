// How much memory arrays use, and its limits.
#include "mlx/memory.h"

#include "module.h"

using namespace pybind11::literals;
namespace mx = mlx::core;

const char* const kMemoryLimitDoc =
    R"(Sets the guideline for the memory in use. Beyond it, evaluation waits for work in flight, and freed memory
is not kept. Nothing fails before the machine has no more memory.

Args:
    limit: The number of bytes.

Returns:
    The last guideline, in bytes.)";

const char* const kCacheLimitDoc = R"(Sets how many free bytes are kept for reuse.

Args:
    limit: The number of bytes. 0 keeps nothing.

Returns:
    The last limit, in bytes.)";

const char* const kWiredLimitDoc = R"(Sets the limit of wired memory. It has no effect here.

Args:
    limit: The number of bytes.

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
        "Sets the peak of `get_peak_memory` to the memory in use now.");
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

void init_memory(py::module_& m) { define_memory(m); }
