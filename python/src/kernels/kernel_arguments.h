// Conversion of the Python arguments of custom kernels, with errors that name the argument.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "convert/arguments.h"
#include "mlx/fast/metal_kernel/arguments.h"
#include "mlx/fast/metal_kernel/complete_kernel.h"
#include "mlx/fast/metal_kernel/metal_kernel.h"

// Keywords that may be given when a kernel is created and when it is called.
class KernelKeywords {
 public:
  static bool knows(std::string_view keyword);

  // Throws TypeError for an unknown keyword. None means not given.
  void set(const std::string& kernel, py::handle key, py::handle value);
  // Returns null if not given.
  py::handle get(std::string_view keyword) const;
  // Throws ValueError if not given.
  py::handle required(std::string_view keyword, const std::string& kernel) const;

  template <typename F>
  void each_object(F& f) {
    for (py::object& value : values_) f(value);
  }

 private:
  static constexpr std::array<std::string_view, 14> kNames = {
      "inputs",         "template",     "grid",         "threadgroup", "output_shapes",
      "output_dtypes",  "init_value",   "verbose",      "stream",      "ensure_row_contiguous",
      "atomic_outputs", "input_shapes", "output_shape", "output_dtype"};
  static int index_of(std::string_view keyword);

  std::array<py::object, kNames.size()> values_;
};

mlx::core::fast::GridSize to_grid(py::handle value, const char* argument);
mlx::core::fast::TemplateArgs to_template(py::handle value);
std::vector<std::pair<std::string, py::object>> to_template_items(py::handle value);
std::optional<mlx::core::fast::InitValue> to_init_value(py::handle value);
mx::StreamOrDevice to_stream_argument(py::handle value);
mlx::core::fast::SourcePrinter to_printer(py::handle verbose);
bool to_flag(py::handle value, const char* argument);
// A list of checks as text, or several names; None is none.
uint32_t to_checks(py::handle value, const std::string& where);

mx::array to_input(py::handle value, const std::string& name);
std::vector<mx::array> to_inputs(py::handle values, const std::vector<std::string>& names);
std::vector<mlx::core::fast::KernelArgument> to_kernel_arguments(py::handle values);

mx::Shape to_kernel_shape(py::handle value, const char* argument);
std::vector<mx::Shape> to_shapes(py::handle values, const char* argument);
mx::Dtype to_dtype(py::handle value, const char* argument);
std::vector<mx::Dtype> to_dtypes(py::handle values, const char* argument);

py::dict to_dictionary(py::handle value, const char* argument);
std::vector<std::string> names_of(const py::dict& values, const char* argument);
std::vector<std::string> to_names(py::handle values, const char* argument);
void check_same_names(std::vector<std::string> shapes, std::vector<std::string> dtypes);
std::map<std::string, std::string> to_string_map(const std::optional<py::dict>& options);
