// Conversion of the Python arguments of custom kernels.
#include "kernels/kernel_arguments.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "convert/convert.h"
#include "convert/optional_int.h"
#include "metal/checks.h"

namespace fast = mlx::core::fast;

namespace {

std::string text_of(py::handle h) { return py::cast<std::string>(py::repr(h)); }

[[noreturn]] void fail_type(const char* argument, const std::string& allowed, py::handle given) {
  throw py::type_error(std::string("[metal_kernel] ") + argument + " must be " + allowed +
                       ", but is " + text_of(given) + " (" + type_name(given) + ").");
}

bool is_list(py::handle h) { return PyList_Check(h.ptr()) || PyTuple_Check(h.ptr()); }

bool is_index(py::handle h) {
  return PyIndex_Check(h.ptr()) && !PyBool_Check(h.ptr()) && !is_array(h);
}

bool is_bool(py::handle h) {
  return PyBool_Check(h.ptr()) || type_name(h) == "numpy.bool" || type_name(h) == "numpy.bool_";
}

int64_t to_int64(py::handle h, const char* argument) {
  py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(h.ptr()));
  if (!number) throw py::error_already_set();
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) {
    throw std::invalid_argument(std::string("[metal_kernel] ") + argument + ": " + text_of(number) +
                                " does not fit into 64 bits.");
  }
  return value;
}

int to_kernel_int(py::handle h, const char* argument) {
  int64_t value = to_int64(h, argument);
  if (auto fits = static_cast<int>(value); fits == value) return fits;
  return narrow(value, (std::string("[metal_kernel] ") + argument).c_str());
}

fast::TemplateArg to_template_value(const std::string& name, py::handle value) {
  if (py::isinstance<mx::Dtype>(value)) return py::cast<mx::Dtype>(value);
  if (is_bool(value)) return py::cast<bool>(py::bool_(py::reinterpret_borrow<py::object>(value)));
  if (is_index(value)) return to_kernel_int(value, ("template parameter " + name).c_str());
  throw std::invalid_argument("[metal_kernel] The template parameter \"" + name +
                              "\" must be a mlx.core.Dtype, an int or a bool, but is " +
                              text_of(value) + " (" + type_name(value) + ").");
}

// NumPy's complex scalars would convert to their real part, with a warning.
bool is_complex(py::handle value) {
  const auto numbers = py::module_::import("numbers");
  return py::isinstance(value, numbers.attr("Complex")) &&
         !py::isinstance(value, numbers.attr("Real"));
}

}  // namespace

int KernelKeywords::index_of(std::string_view keyword) {
  auto it = std::find(kNames.begin(), kNames.end(), keyword);
  return it == kNames.end() ? -1 : static_cast<int>(it - kNames.begin());
}

bool KernelKeywords::knows(std::string_view keyword) { return index_of(keyword) >= 0; }

void KernelKeywords::set(const std::string& kernel, py::handle key, py::handle value) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(key.ptr(), &length);
  if (!text) throw py::error_already_set();
  int index = index_of(std::string_view(text, length));
  if (index < 0) {
    std::string allowed;
    for (auto name : kNames) allowed.append(allowed.empty() ? "" : ", ").append(name);
    throw py::type_error("[metal_kernel] The kernel \"" + kernel + "\" has no argument '" + text +
                         "'; allowed are " + allowed + ".");
  }
  if (!value.is_none()) values_[index] = py::reinterpret_borrow<py::object>(value);
}

py::handle KernelKeywords::get(std::string_view keyword) const {
  return values_[index_of(keyword)];
}

py::handle KernelKeywords::required(std::string_view keyword, const std::string& kernel) const {
  py::handle value = get(keyword);
  if (!value) {
    throw std::invalid_argument("[metal_kernel] The kernel \"" + kernel + "\" needs " +
                                std::string(keyword) +
                                (keyword == "grid" ? "=(x, y, z), the number of threads." : "."));
  }
  return value;
}

fast::GridSize to_grid(py::handle value, const char* argument) {
  if (!is_list(value)) fail_type(argument, "a tuple of three integers (x, y, z)", value);
  if (py::len(value) != 3) {
    throw std::invalid_argument(std::string("[metal_kernel] ") + argument +
                                " must be three integers (x, y, z), but is " + text_of(value) +
                                ".");
  }
  int size[3];
  PyObject* const* items = PySequence_Fast_ITEMS(value.ptr());
  for (int i = 0; i < 3; ++i) {
    if (!is_index(items[i])) fail_type(argument, "a tuple of three integers (x, y, z)", value);
    size[i] = to_kernel_int(items[i], argument);
  }
  return {size[0], size[1], size[2]};
}

std::vector<std::pair<std::string, py::object>> to_template_items(py::handle value) {
  std::vector<std::pair<std::string, py::object>> items;
  if (PyDict_Check(value.ptr())) {
    for (auto [key, item] : py::reinterpret_borrow<py::dict>(value)) {
      if (!py::isinstance<py::str>(key))
        fail_type("template", "a dictionary with names as keys", value);
      items.emplace_back(py::cast<std::string>(key), py::reinterpret_borrow<py::object>(item));
    }
    return items;
  }
  if (!is_list(value))
    fail_type("template", "a list of pairs (name, value) or a dictionary", value);
  for (py::handle pair : value) {
    if (!is_list(pair) || py::len(pair) != 2)
      fail_type("template", "a list of pairs (name, value)", value);
    PyObject* const* entry = PySequence_Fast_ITEMS(pair.ptr());
    if (!PyUnicode_Check(entry[0])) fail_type("template", "a list of pairs (name, value)", value);
    items.emplace_back(py::cast<std::string>(py::handle(entry[0])),
                       py::reinterpret_borrow<py::object>(entry[1]));
  }
  return items;
}

fast::TemplateArgs to_template(py::handle value) {
  fast::TemplateArgs result;
  if (!value) return result;
  for (auto& [name, item] : to_template_items(value)) {
    fast::TemplateArg argument = to_template_value(name, item);
    result.emplace_back(std::move(name), argument);
  }
  return result;
}

std::optional<fast::InitValue> to_init_value(py::handle value) {
  if (!value) return std::nullopt;
  if (is_bool(value)) return fast::InitValue(static_cast<int64_t>(PyObject_IsTrue(value.ptr())));
  if (is_index(value)) {
    py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    int overflow = 0;
    long long exact = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow == 0) return fast::InitValue(static_cast<int64_t>(exact));
  }
  if (!PyNumber_Check(value.ptr()) || PyUnicode_Check(value.ptr()) || is_complex(value)) {
    fail_type("init_value", "a real number", value);
  }
  double number = PyFloat_AsDouble(value.ptr());
  if (number == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    fail_type("init_value", "a real number", value);
  }
  return fast::InitValue(number);
}

mx::StreamOrDevice to_stream_argument(py::handle value) {
  mx::StreamOrDevice stream;
  if (value && !load_stream(value, stream)) fail_type("stream", "a Stream or a Device", value);
  return stream;
}

fast::SourcePrinter to_printer(py::handle verbose) {
  if (!verbose || !to_flag(verbose, "verbose")) return {};
  return [](const std::string& text) {
    py::gil_scoped_acquire gil;
    py::print(text);
  };
}

bool to_flag(py::handle value, const char* argument) {
  if (!is_bool(value)) fail_type(argument, "True or False", value);
  return PyObject_IsTrue(value.ptr()) == 1;
}

uint32_t to_checks(py::handle value, const std::string& where) {
  if (value.is_none()) return metal::kNoChecks;
  if (py::isinstance<py::str>(value)) return metal::parse_checks(value.cast<std::string>(), where);
  if (!is_list(value)) {
    throw py::type_error(where + " check: Expected a str or a list of str but got " +
                         type_name(value) + ".");
  }
  uint32_t checks = metal::kNoChecks;
  for (py::handle name : value) {
    if (!py::isinstance<py::str>(name)) {
      throw py::type_error(where + " check: Expected a str or a list of str but got a list of " +
                           type_name(name) + ".");
    }
    checks |= metal::parse_checks(name.cast<std::string>(), where);
  }
  return checks;
}

mx::array to_input(py::handle value, const std::string& name) {
  if (is_array(value)) return value.cast<const mx::array&>();
  if (!is_array_like(value)) {
    fail_type(("The input \"" + name + "\"").c_str(), "an array or a scalar", value);
  }
  return to_array(value);
}

std::vector<mx::array> to_inputs(py::handle values, const std::vector<std::string>& names) {
  if (!is_list(values)) fail_type("inputs", "a list of arrays and scalars", values);
  std::vector<mx::array> inputs;
  inputs.reserve(names.size());
  for (py::handle value : values) {
    size_t i = inputs.size();
    inputs.push_back(is_array(value)
                         ? value.cast<const mx::array&>()
                         : to_input(value, i < names.size() ? names[i] : std::to_string(i)));
  }
  return inputs;
}

std::vector<fast::KernelArgument> to_kernel_arguments(py::handle values) {
  if (!is_list(values)) fail_type("inputs", "a list of arrays and scalars", values);
  std::vector<fast::KernelArgument> arguments;
  for (py::handle value : values) {
    if (is_array(value)) {
      arguments.emplace_back(value.cast<const mx::array&>());
    } else if (PyBool_Check(value.ptr())) {
      arguments.emplace_back(value.ptr() == Py_True);
    } else if (PyLong_Check(value.ptr())) {
      arguments.emplace_back(to_int64(value, "argument"));
    } else if (PyFloat_Check(value.ptr())) {
      arguments.emplace_back(PyFloat_AS_DOUBLE(value.ptr()));
    } else {
      arguments.emplace_back(to_input(value, std::to_string(arguments.size())));
    }
  }
  return arguments;
}

mx::Shape to_kernel_shape(py::handle value, const char* argument) {
  Ints ints;
  if (!load_ints(value, ints)) fail_type(argument, "a tuple of integers for each output", value);
  return to_shape(ints, (std::string("[metal_kernel] ") + argument).c_str());
}

std::vector<mx::Shape> to_shapes(py::handle values, const char* argument) {
  if (!is_list(values)) fail_type(argument, "a list of shapes", values);
  std::vector<mx::Shape> shapes;
  for (py::handle value : values) {
    if (!is_list(value)) fail_type(argument, "a list of shapes, each a tuple of integers", values);
    shapes.push_back(to_kernel_shape(value, argument));
  }
  return shapes;
}

mx::Dtype to_dtype(py::handle value, const char* argument) {
  if (!py::isinstance<mx::Dtype>(value))
    fail_type(argument, "a mlx.core.Dtype for each output", value);
  return py::cast<mx::Dtype>(value);
}

std::vector<mx::Dtype> to_dtypes(py::handle values, const char* argument) {
  if (!is_list(values)) fail_type(argument, "a list of mlx.core.Dtype", values);
  std::vector<mx::Dtype> dtypes;
  for (py::handle value : values) dtypes.push_back(to_dtype(value, argument));
  return dtypes;
}

py::dict to_dictionary(py::handle value, const char* argument) {
  if (!PyDict_Check(value.ptr())) {
    fail_type(
        argument,
        "a dictionary by name for a kernel that was created without input_names and output_names",
        value);
  }
  return py::reinterpret_borrow<py::dict>(value);
}

std::vector<std::string> names_of(const py::dict& values, const char* argument) {
  std::vector<std::string> names;
  for (auto [key, value] : values) {
    if (!py::isinstance<py::str>(key))
      fail_type(argument, "a dictionary with names as keys", values);
    names.push_back(py::cast<std::string>(key));
  }
  return names;
}

std::vector<std::string> to_names(py::handle values, const char* argument) {
  if (!is_list(values)) fail_type(argument, "a list of names", values);
  std::vector<std::string> names;
  for (py::handle value : values) {
    if (!py::isinstance<py::str>(value)) fail_type(argument, "a list of names", values);
    names.push_back(py::cast<std::string>(value));
  }
  return names;
}

void check_same_names(std::vector<std::string> shapes, std::vector<std::string> dtypes) {
  std::sort(shapes.begin(), shapes.end());
  std::sort(dtypes.begin(), dtypes.end());
  if (shapes == dtypes) return;
  auto list = [](const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
    return "(" + text + ")";
  };
  throw std::invalid_argument(
      "[metal_kernel] output_shapes and output_dtypes must name the same outputs, but name " +
      list(shapes) + " and " + list(dtypes) + ".");
}

std::map<std::string, std::string> to_string_map(const std::optional<py::dict>& options) {
  std::map<std::string, std::string> result;
  if (!options) return result;
  for (auto [key, value] : *options) {
    if (!py::isinstance<py::str>(key) || !py::isinstance<py::str>(value)) {
      throw std::invalid_argument(
          "[metal_kernel] compile_options must map names to strings, but is " + text_of(*options) +
          ".");
    }
    result[py::cast<std::string>(key)] = py::cast<std::string>(value);
  }
  return result;
}
