// mlx.core.metal.coverage: which lines and branches kernels have run.
#include "metal/coverage.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <string>

#include "module.h"

using namespace pybind11::literals;

namespace {

const char* const kCoverageDoc = R"(coverage() -> list[FileCoverage]

Gives what kernels made with `metal_kernel(..., coverage=True)`, and those of libraries that `metalc --coverage` built, have run
since the process began or `reset_coverage` was called.

Returns:
    Each source with its lines and branches. Kernels that were made of one source, with other types or sizes,
    count together. `print` shows the source with the numbers.)";

const char* const kSaveDoc = R"(save_coverage(path: str | os.PathLike[str]) -> None

Writes what `coverage` gives as lcov's tools read it: `genhtml path` makes pages of it. Sources that are no files
are written to a folder beside it.

Args:
    path: The file, by custom ending in ".info".)";

void define_lines(py::module_& m) {
  using metal::BranchCoverage;
  using metal::LineCoverage;
  py::class_<LineCoverage>(m, "LineCoverage", "What threads did in one line.")
      .def_readonly("line", &LineCoverage::line, "int: The line.")
      .def_readonly("count", &LineCoverage::count,
                    "int: How often threads ran it: each thread counts.")
      .def_readonly("lanes", &LineCoverage::lanes,
                    "float: How many lanes of a SIMD-group ran it together, on average.")
      .def_readonly("bytes_read", &LineCoverage::read,
                    "int: Bytes that it read from device and threadgroup memory.")
      .def_readonly("bytes_written", &LineCoverage::written, "int: Bytes that it wrote there.")
      .def_readonly(
          "access", &LineCoverage::access,
          "str: How neighbouring lanes touched device memory: \"read coalesced\", \"write "
          "strided by 16 bytes\", uniform or gathered, or several of them; empty if "
          "they did not.")
      .def("__repr__", [](const LineCoverage& line) {
        return "<LineCoverage of line " + std::to_string(line.line) + ": " +
               std::to_string(line.count) + ">";
      });
  py::class_<BranchCoverage>(m, "BranchCoverage",
                             "How often threads took each successor of a branch.")
      .def_readonly("line", &BranchCoverage::line, "int: Its line.")
      .def_readonly("column", &BranchCoverage::column, "int: The column.")
      .def_readonly("taken", &BranchCoverage::taken,
                    "list[int]: How often each was taken; that of a true condition, or of a "
                    "switch's default, comes first.")
      .def("__repr__", [](const BranchCoverage& branch) {
        return "<BranchCoverage of line " + std::to_string(branch.line) + ", column " +
               std::to_string(branch.column) + ">";
      });
}

}  // namespace

void define_coverage(py::module_& m) {
  using metal::FileCoverage;
  define_lines(m);
  py::class_<FileCoverage>(m, "FileCoverage", "What threads did in one source.")
      .def_readonly("file", &FileCoverage::file, "str: The source, as the compiler calls it.")
      .def_readonly("text", &FileCoverage::text, "str: The source itself.")
      .def_readonly("kernels", &FileCoverage::kernels,
                    "dict[str, int]: The launches of each kernel that has code of it.")
      .def_readonly("lines", &FileCoverage::lines, "list[LineCoverage]: The lines with code.")
      .def_readonly("branches", &FileCoverage::branches, "list[BranchCoverage]: The branches.")
      .def("__str__", &metal::annotate)
      .def("__repr__", [](const FileCoverage& f) { return "<FileCoverage of " + f.file + ">"; });
  m.def("coverage", &metal::coverage, kCoverageDoc);
  m.def(
      "save_coverage",
      [](const std::filesystem::path& path) { metal::write_coverage(path.string()); }, "path"_a,
      kSaveDoc);
  m.def("reset_coverage", &metal::reset_coverage,
        "reset_coverage() -> None\n\nForgets what `coverage` gives.");
}
