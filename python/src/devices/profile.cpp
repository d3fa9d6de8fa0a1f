// mlx.core.metal.profile: which kernels take the time, and which of their lines.
#include "metal/profile.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "devices/device.h"
#include "interpreter/wait.h"
#include "metal/checks.h"
#include "mlx/backend/metal/checks.h"
#include "mlx/stream.h"
#include "module.h"

using namespace pybind11::literals;

namespace {

namespace mx = mlx::core;

const char* const kProfileDoc =
    R"(profile(path: str | os.PathLike[str] | None = None) -> ProfileContext

Times the kernels that are called or evaluated inside of a `with` block, those of array operations included, and samples
every millisecond which line each thread of the CPU runs. There is one profile at a time. Checked kernels are
left out.

Args:
    path: Where the block's end writes a trace, as JSON that https://ui.perfetto.dev opens: launches with their
        grids and sampled lines, and the threads that ran them. By default none is written.

Returns:
    The context manager. After the block it has the results.)";

class ProfileContext {
 public:
  explicit ProfileContext(std::optional<std::filesystem::path> path) : path_(std::move(path)) {}
  ProfileContext(const ProfileContext&) = delete;
  ProfileContext& operator=(const ProfileContext&) = delete;

  void enter() {
    metal::start_profile();
    scope_ = std::make_unique<mx::metal::CheckScope>(metal::kProfile);
  }

  void exit() {
    if (!scope_) return;
    scope_.reset();
    try {
      wait_interruptibly([] { mx::synchronize(); });
    } catch (...) {
      profile = metal::stop_profile();
      throw;
    }
    profile = metal::stop_profile();
    if (path_) save(*path_);
  }

  void save(const std::filesystem::path& path) const {
    std::ofstream file(path, std::ios::binary);
    file << metal::trace_of(profile);
    if (!file) throw std::runtime_error("[profile] Cannot write " + path.string());
  }

  metal::Profile profile;

 private:
  std::optional<std::filesystem::path> path_;
  std::unique_ptr<mx::metal::CheckScope> scope_;
};

void define_parts(py::module_& m) {
  using metal::ProfiledLaunch;
  using metal::ProfiledLine;
  py::class_<ProfiledLine>(m, "ProfiledLine", "A line of a kernel that samples have met.")
      .def_readonly("kernel", &ProfiledLine::kernel, "str: The name of the kernel.")
      .def_readonly("file", &ProfiledLine::file,
                    "str: The source, as the compiler calls it; empty if it is not known.")
      .def_readonly("line", &ProfiledLine::line, "int: The line; 0 if it is not known.")
      .def_readonly("text", &ProfiledLine::text, "str: The line itself.")
      .def_readonly("samples", &ProfiledLine::samples, "int: How many samples met it.")
      .def("__repr__", [](const ProfiledLine& line) {
        return "<ProfiledLine of " + line.kernel + ", line " + std::to_string(line.line) + ": " +
               std::to_string(line.samples) + " samples>";
      });
  py::class_<ProfiledLaunch>(m, "ProfiledLaunch", "A launch of a kernel.")
      .def_readonly("kernel", &ProfiledLaunch::kernel, "str: The name of the kernel.")
      .def_readonly("start", &ProfiledLaunch::start,
                    "float: When it began, in microseconds since the block began.")
      .def_readonly("duration", &ProfiledLaunch::duration, "float: Microseconds that it took.")
      .def_property_readonly(
          "grid", [](const ProfiledLaunch& launch) { return to_tuple(launch.grid); },
          "tuple[int, int, int]: The threads of the grid.")
      .def_property_readonly(
          "threadgroup", [](const ProfiledLaunch& launch) { return to_tuple(launch.threadgroup); },
          "tuple[int, int, int]: The threads of a threadgroup.")
      .def_property_readonly(
          "threads", [](const ProfiledLaunch& launch) { return launch.parts.size(); },
          "int: How many threads of the CPU ran it.")
      .def_readonly("lines", &ProfiledLaunch::lines,
                    "list[ProfiledLine]: Its lines, those with most samples first.")
      .def("__repr__", [](const ProfiledLaunch& launch) {
        return "<ProfiledLaunch of " + launch.kernel + ">";
      });
}

}  // namespace

void define_profile(py::module_& m) {
  define_parts(m);
  py::class_<ProfileContext>(m, "ProfileContext", "What `profile` returns.")
      .def(
          "__enter__",
          [](py::object self) {
            self.cast<ProfileContext&>().enter();
            return self;
          },
          "__enter__(self) -> ProfileContext\n\nBegins the profile.")
      .def(
          "__exit__", [](ProfileContext& context, const py::args&) { context.exit(); },
          "__exit__(self, *args: Any) -> None\n\nWaits for the kernels and ends it.")
      .def_property_readonly(
          "launches", [](const ProfileContext& c) { return c.profile.launches; },
          "list[ProfiledLaunch]: The launches, in their order.")
      .def_property_readonly(
          "lines", [](const ProfileContext& c) { return c.profile.lines; },
          "list[ProfiledLine]: The lines of all launches, those with most samples first.")
      .def("save", &ProfileContext::save, "path"_a,
           "save(self, path: str | os.PathLike[str]) -> None\n\nWrites the trace.\n\nArgs:\n    "
           "path: "
           "The file.")
      .def("__str__", [](const ProfileContext& c) { return metal::describe(c.profile); });
  m.def(
      "profile",
      [](std::optional<std::filesystem::path> path) {
        return std::make_unique<ProfileContext>(std::move(path));
      },
      "path"_a = py::none(), kProfileDoc);
}
