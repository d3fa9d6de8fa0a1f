// What mlx.debug, the debugger of kernels, is made of.
#include "metal/debugger.h"

#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "devices/device.h"
#include "mlx/backend/metal/checks.h"
#include "module.h"

namespace {

py::dict to_dict(const metal::DebugStop& stop) {
  py::list frames;
  for (const metal::DebugFrame& frame : stop.frames)
    frames.append(py::make_tuple(py::str(frame.description), frame.site, frame.addresses));
  py::dict result;
  result["kernel"] = stop.kernel;
  result["source"] = stop.source;
  result["grid"] = to_tuple(stop.grid);
  result["breakpoint"] = stop.breakpoint;
  result["frames"] = std::move(frames);
  return result;
}

}  // namespace

void define_debugger(py::module_& m) {
  m.def("_start_debugging", &mlx::core::metal::start_debugging);
  m.def("_set_breakpoints", [](const std::vector<std::pair<std::string, uint32_t>>& places) {
    std::vector<metal::Breakpoint> breakpoints;
    for (const auto& [file, line] : places) breakpoints.push_back({file, line});
    metal::set_breakpoints(std::move(breakpoints));
  });
  m.def("_choose_thread", &metal::choose_debugged_thread);
  m.def("_chosen_thread", &metal::debugged_thread);
  m.def("_wait_for_stop", [](double seconds) -> py::object {
    std::optional<metal::DebugStop> stop;
    {
      const py::gil_scoped_release release;
      stop = metal::wait_for_stop(seconds);
    }
    return stop ? py::object(to_dict(*stop)) : py::none();
  });
  m.def("_resume", [](uint32_t how) { metal::resume(static_cast<metal::DebugResume>(how)); });
}
