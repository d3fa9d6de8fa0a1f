// How much memory arrays use, and its limits.
#include "mlx/memory.h"

#include "module.h"

using namespace pybind11::literals;
namespace mx = mlx::core;

void define_memory(py::module_& m) {
  m.def("get_active_memory", &mx::get_active_memory,
        "Bytes in use by arrays; cached memory is not counted.");
  m.def("get_peak_memory", &mx::get_peak_memory,
        "The most bytes ever in use, since the start or the last reset.");
  m.def("reset_peak_memory", &mx::reset_peak_memory, "Sets the peak to the memory in use now.");
  m.def("get_cache_memory", &mx::get_cache_memory, "Bytes that are free but kept for reuse.");
  m.def(
      "set_memory_limit", &mx::set_memory_limit, "limit"_a,
      "Sets the guideline for memory in use and returns the last one: beyond it evaluation waits "
      "for "
      "work in flight and freed memory is not kept. Nothing fails before the machine has no more.");
  m.def("get_memory_limit", &mx::get_memory_limit, "The guideline for memory in use, in bytes.");
  m.def("set_cache_limit", &mx::set_cache_limit, "limit"_a,
        "Sets how many free bytes are kept; returns the last limit.");
  m.def("set_wired_limit", &mx::set_wired_limit, "limit"_a,
        "Sets the limit of wired memory; returns the last one.");
  m.def("clear_cache", &mx::clear_cache,
        "Gives free memory that is kept for reuse back to the system.");
}

void init_memory(py::module_& m) { define_memory(m); }
