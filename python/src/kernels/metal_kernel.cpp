// mx.fast.metal_kernel and mx.fast.MetalKernel: creates and calls kernels in each of their forms.
#include "mlx/fast/metal_kernel/metal_kernel.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>

#include "interpreter/collectable.h"
#include "interpreter/wait.h"
#include "kernels/kernel_arguments.h"
#include "metal/checks.h"
#include "mlx/bounded_cache.h"
#include "mlx/fast/metal_kernel/complete_kernel.h"
#include "module.h"

namespace {

namespace fast = mlx::core::fast;

// The Python object of a kernel. Arguments may be given at creation, at the call, or both; those of
// the call override the others.
class PyKernel {
 public:
  enum class Form {
    Lists,         // names at creation; lists at the call; returns a list
    Dictionaries,  // dictionaries at the call, whose keys are the names; returns a dictionary
    Keywords,      // inputs are the call's keywords; returns a dictionary
    Complete       // a kernel with its own signature: inputs by position
  };

  PyKernel(Form form, std::string name, std::string source, fast::KernelOptions options,
           KernelKeywords keywords, std::vector<std::string> input_names = {},
           std::vector<std::string> output_names = {})
      : form_(form),
        name_(std::move(name)),
        source_(std::move(source)),
        options_(std::move(options)),
        keywords_(std::move(keywords)),
        input_names_(std::move(input_names)),
        output_names_(std::move(output_names)) {
    if (form_ == Form::Complete) {
      complete_ = std::make_shared<fast::CompleteKernel>(name_, source_, options_);
    } else if (form_ == Form::Lists) {
      kernel_ = std::make_shared<fast::MetalKernel>(name_, input_names_, output_names_, source_,
                                                    options_);
    } else {
      mentioned_ = fast::identifiers_in(source_);
    }
  }

  py::object call(const py::args& args, const py::kwargs& kwargs);
  void set_template(const py::kwargs& values);
  const std::string& name() const { return name_; }
  const std::string& source() const { return source_; }

  template <typename F>
  void each_object(F& f) {
    keywords_.each_object(f);
  }

 private:
  py::object call_lists(const KernelKeywords& keywords);
  py::object call_dictionaries(const KernelKeywords& keywords, py::handle inputs);
  py::object call_complete(const KernelKeywords& keywords, const py::args& args);
  bool is_input(py::handle key, py::handle value) const;
  fast::KernelCall call_without_outputs(const KernelKeywords& keywords) const;
  std::shared_ptr<fast::MetalKernel> kernel_with_names(std::vector<std::string> inputs,
                                                       std::vector<std::string> outputs,
                                                       const fast::KernelOptions& options);

  Form form_;
  std::string name_;
  std::string source_;
  fast::KernelOptions options_;
  KernelKeywords keywords_;
  std::vector<std::string> input_names_;
  std::vector<std::string> output_names_;
  fast::IdentifierSet mentioned_;
  std::shared_ptr<fast::MetalKernel> kernel_;
  std::shared_ptr<fast::CompleteKernel> complete_;
  // For the forms that give names at the call: a kernel for each set of names.
  static constexpr size_t kMaxNames = 64;
  mlx::core::BoundedCache<std::string, std::shared_ptr<fast::MetalKernel>> by_names_{kMaxNames};
};

// In the keyword form each keyword is an input, except an option that the source does not mention.
bool PyKernel::is_input(py::handle key, py::handle value) const {
  std::string name = py::cast<std::string>(key);
  return !KernelKeywords::knows(name) || is_array(value) || mentioned_.contains(name);
}

py::object PyKernel::call(const py::args& args, const py::kwargs& kwargs) {
  if (form_ != Form::Complete && args.size() > 0) {
    throw py::type_error(
        "[metal_kernel] The kernel \"" + name_ +
        "\" takes keyword arguments only: inputs, grid, threadgroup, output_shapes, "
        "output_dtypes, ...");
  }
  KernelKeywords keywords = keywords_;
  py::dict inputs;
  for (auto [key, value] : kwargs) {
    if (form_ == Form::Keywords && is_input(key, value)) {
      inputs[key] = value;
    } else {
      keywords.set(name_, key, value);
    }
  }
  if (form_ == Form::Complete) return call_complete(keywords, args);
  if (form_ == Form::Lists) return call_lists(keywords);
  if (form_ == Form::Keywords) return call_dictionaries(keywords, inputs);
  return call_dictionaries(keywords, keywords.required("inputs", name_));
}

fast::KernelCall PyKernel::call_without_outputs(const KernelKeywords& keywords) const {
  fast::KernelCall call;
  call.grid = to_grid(keywords.required("grid", name_), "grid");
  call.threadgroup = to_grid(keywords.required("threadgroup", name_), "threadgroup");
  call.template_args = to_template(keywords.get("template"));
  call.init_value = to_init_value(keywords.get("init_value"));
  call.stream = to_stream_argument(keywords.get("stream"));
  call.print = to_printer(keywords.get("verbose"));
  return call;
}

py::object PyKernel::call_lists(const KernelKeywords& keywords) {
  if (keywords.get("ensure_row_contiguous") || keywords.get("atomic_outputs")) {
    throw std::invalid_argument(
        "[metal_kernel] ensure_row_contiguous and atomic_outputs belong to the creation "
        "of the kernel \"" +
        name_ + "\", not to its call.");
  }
  fast::KernelCall call = call_without_outputs(keywords);
  auto inputs = to_inputs(keywords.required("inputs", name_), input_names_);
  call.output_shapes = to_shapes(keywords.required("output_shapes", name_), "output_shapes");
  call.output_dtypes = to_dtypes(keywords.required("output_dtypes", name_), "output_dtypes");
  return to_list((*kernel_)(inputs, call));
}

std::shared_ptr<fast::MetalKernel> PyKernel::kernel_with_names(std::vector<std::string> inputs,
                                                               std::vector<std::string> outputs,
                                                               const fast::KernelOptions& options) {
  std::string key;
  auto add = [&key](const std::string& name) {
    key.append(std::to_string(name.size())).append(":").append(name);
  };
  std::for_each(inputs.begin(), inputs.end(), add);
  key += options.ensure_row_contiguous ? 'c' : 's';
  key += options.atomic_outputs ? 'a' : 'p';
  std::for_each(outputs.begin(), outputs.end(), add);
  return by_names_.get(std::move(key), [&] {
    return std::make_shared<fast::MetalKernel>(name_, std::move(inputs), std::move(outputs),
                                               source_, options);
  });
}

py::object PyKernel::call_dictionaries(const KernelKeywords& keywords, py::handle inputs) {
  fast::KernelCall call = call_without_outputs(keywords);
  fast::KernelOptions options = options_;
  if (auto flag = keywords.get("ensure_row_contiguous")) {
    options.ensure_row_contiguous = to_flag(flag, "ensure_row_contiguous");
  }
  if (auto flag = keywords.get("atomic_outputs")) {
    options.atomic_outputs = to_flag(flag, "atomic_outputs");
  }
  py::dict shapes = to_dictionary(keywords.required("output_shapes", name_), "output_shapes");
  py::dict dtypes = to_dictionary(keywords.required("output_dtypes", name_), "output_dtypes");
  py::dict arrays = to_dictionary(inputs, "inputs");
  auto input_names = names_of(arrays, "inputs");
  auto output_names = names_of(shapes, "output_shapes");
  check_same_names(output_names, names_of(dtypes, "output_dtypes"));

  std::vector<mx::array> values;
  for (auto [key, value] : arrays) values.push_back(to_input(value, py::cast<std::string>(key)));
  for (auto [key, shape] : shapes) {
    call.output_shapes.push_back(to_kernel_shape(shape, "output_shapes"));
    call.output_dtypes.push_back(to_dtype(dtypes[key], "output_dtypes"));
  }
  auto kernel = kernel_with_names(std::move(input_names), output_names, options);
  auto outputs = (*kernel)(values, call);
  py::dict result;
  for (size_t i = 0; i < outputs.size(); ++i)
    result[py::str(output_names[i])] = std::move(outputs[i]);
  return result;
}

py::object PyKernel::call_complete(const KernelKeywords& keywords, const py::args& args) {
  fast::CompleteKernelCall call;
  if (auto grid = keywords.get("grid")) call.grid = to_grid(grid, "grid");
  if (auto threadgroup = keywords.get("threadgroup"))
    call.threadgroup = to_grid(threadgroup, "threadgroup");
  if (auto shapes = keywords.get("input_shapes"))
    call.input_shapes = to_shapes(shapes, "input_shapes");
  if (auto shapes = keywords.get("output_shapes"))
    call.output_shapes = to_shapes(shapes, "output_shapes");
  if (auto dtypes = keywords.get("output_dtypes"))
    call.output_dtypes = to_dtypes(dtypes, "output_dtypes");
  if (auto shape = keywords.get("output_shape")) {
    call.output_shapes = {to_kernel_shape(shape, "output_shape")};
  }
  if (auto dtype = keywords.get("output_dtype")) {
    mx::Dtype type = to_dtype(dtype, "output_dtype");
    call.output_dtypes.assign(std::max<size_t>(1, call.output_shapes.size()), type);
  }
  call.init_value = to_init_value(keywords.get("init_value"));
  call.stream = to_stream_argument(keywords.get("stream"));
  call.print = to_printer(keywords.get("verbose"));
  py::handle inputs = keywords.get("inputs");
  if (inputs && args.size() > 0) {
    throw py::type_error("[metal_kernel] The kernel \"" + name_ +
                         "\" was given arrays both by position and as inputs.");
  }
  if (auto values = keywords.get("template"); values && py::len(values) > 0) {
    throw std::invalid_argument("[metal_kernel] The kernel \"" + name_ +
                                "\" is written whole: instantiate its templates in its source.");
  }
  auto arguments = to_kernel_arguments(inputs ? inputs : py::handle(args));
  std::vector<mx::array> outputs;
  wait_interruptibly([&] { outputs = (*complete_)(arguments, call); });  // the first call compiles
  if (outputs.size() == 1) return py::cast(std::move(outputs[0]));
  return to_list(outputs);
}

void PyKernel::set_template(const py::kwargs& values) {
  py::dict merged;
  if (auto old = keywords_.get("template")) {
    for (auto& [name, value] : to_template_items(old)) merged[py::str(name)] = value;
  }
  for (auto [key, value] : values) merged[key] = value;
  to_template(merged);  // raises now if a value is wrong
  keywords_.set(name_, py::str("template"), merged);
}

const char* kCallDoc = R"doc(__call__(self, *args: scalar | array, **kwargs: Any) -> Any

Calls the kernel.

Args:
    *args: The arrays and scalars of a kernel that was given whole, in the order of its buffers.
    **kwargs: What follows. Inputs and outputs are lists, in the order of the names given to `metal_kernel`,
        or dictionaries by name if no names were given.
        inputs: The input arrays or scalars.
        output_shapes: The shape of each output.
        output_dtypes: The data type of each output.
        grid: The number of threads along x, y and z.
        threadgroup: The number of threads of a threadgroup along x, y and z.
        template: The name of each template parameter and its value: a Dtype, an int or a bool.
        init_value: What outputs hold before the kernel runs. By default that is undefined.
        verbose: Whether to print the source that is compiled, what the compiler warns of and, for a kernel
            that runs one thread at a time on the CPU, why.
        stream: The stream or device to run on.

Returns:
    The outputs: a list if names were given to `metal_kernel`, otherwise a dictionary. A kernel that was given
    whole returns an array, or a list of them if it has several outputs.
)doc";

const char* kMetalKernelDoc = R"doc(
metal_kernel(name: str, input_names: Sequence[str] | str | None = None, output_names: Sequence[str] | None = None, source: str | None = None, header: str = '', ensure_row_contiguous: bool = True, atomic_outputs: bool = False, compile_options: dict[str, str] | None = None, check: str | Sequence[str] | None = None, coverage: bool = False, **kwargs: Any) -> MetalKernel

Makes a kernel out of Metal Shading Language source.

Args:
    name: The name of the kernel.
    input_names: The names of the inputs in the source. If neither list is given, names are the keys of the
        dictionaries that are passed to the call.
    output_names: The names of the outputs in the source.
    source: The body of the kernel; its signature is generated. Or complete kernel functions
        (`kernel void f(...)`): arrays then bind to `[[buffer(n)]]` by position, and every device pointer that
        is not const is an output, which starts from the values of the array that is passed for it.
    header: Source that stands before the kernel.
    ensure_row_contiguous: Whether inputs that are not row-contiguous are copied.
    atomic_outputs: Whether outputs are declared as `device atomic<T>*`.
    compile_options: `{"math_mode": "safe" | "relaxed" | "fast"}`.
    check: What is checked: "bounds", "barriers", "races", "uninitialised", "numbers", "apple", "order",
        "all" or a list of them. See `mlx.core.metal.check`.
    coverage: Whether launches count what they run, one thread at a time: see `mlx.core.metal.coverage`.
    **kwargs: Defaults for the arguments of the call.

Returns:
    The kernel, which can be called.

Example:
    >>> kernel = mx.fast.metal_kernel(
    ...     name="twice", input_names=["a"], output_names=["b"],
    ...     source="b[thread_position_in_grid.x] = 2 * a[thread_position_in_grid.x];")
    >>> a = mx.arange(3)
    >>> (b,) = kernel(inputs=[a], grid=(3, 1, 1), threadgroup=(3, 1, 1),
    ...               output_shapes=[a.shape], output_dtypes=[a.dtype])
    >>> b
    array([0, 2, 4], dtype=int32)
)doc";

const char* kKernelInitDoc = R"doc(
__init__(self, name: str, source: str, grid: object = None, threadgroup: object = None, output_shapes: object = None, output_dtypes: object = None, ensure_row_contiguous: bool = True, header: str = '', atomic_outputs: bool = False, compile_options: dict[str, str] | None = None, check: str | Sequence[str] | None = None, coverage: bool = False, **kwargs: Any) -> None

The arguments are those of `metal_kernel`, and defaults for the arguments of the call.
)doc";

fast::KernelOptions to_options(const std::string& header, bool contiguous, bool atomic,
                               const std::optional<py::dict>& compile_options,
                               const py::object& check, bool coverage) {
  return {header, contiguous, atomic, fast::parse_compile_options(to_string_map(compile_options)),
          to_checks(check, "[metal_kernel]") | (coverage ? metal::kCoverage : metal::kNoChecks)};
}

KernelKeywords to_keywords(const std::string& name, const py::kwargs& kwargs) {
  KernelKeywords keywords;
  for (auto [key, value] : kwargs) keywords.set(name, key, value);
  return keywords;
}

PyKernel make_kernel(const std::string& name, const py::object& input_names,
                     const py::object& output_names, std::optional<std::string> source,
                     const std::string& header, bool contiguous, bool atomic,
                     const std::optional<py::dict>& compile_options, const py::object& check,
                     bool coverage, const py::kwargs& kwargs) {
  auto options = to_options(header, contiguous, atomic, compile_options, check, coverage);
  auto keywords = to_keywords(name, kwargs);
  bool no_names = input_names.is_none() && output_names.is_none();
  if (!source && py::isinstance<py::str>(input_names) && output_names.is_none()) {
    source = py::cast<std::string>(input_names);  // metal_kernel(name, source)
    no_names = true;
  }
  if (!source) throw py::type_error("[metal_kernel] The kernel \"" + name + "\" needs its source.");
  bool complete = fast::defines_kernel(*source);
  if (complete && !no_names) {
    throw std::invalid_argument(
        "[metal_kernel] The source of \"" + name +
        "\" is a complete kernel function, which names its own arguments: leave out "
        "input_names and output_names, or give only the body of the function.");
  }
  if (no_names) {
    auto form = complete ? PyKernel::Form::Complete : PyKernel::Form::Dictionaries;
    return PyKernel(form, name, *source, options, std::move(keywords));
  }
  return PyKernel(PyKernel::Form::Lists, name, *source, options, std::move(keywords),
                  to_names(input_names, "input_names"), to_names(output_names, "output_names"));
}

PyKernel make_metal_kernel(const std::string& name, const std::string& source,
                           const py::object& grid, const py::object& threadgroup,
                           const py::object& output_shapes, const py::object& output_dtypes,
                           bool contiguous, const std::string& header, bool atomic,
                           const std::optional<py::dict>& compile_options, const py::object& check,
                           bool coverage, const py::kwargs& kwargs) {
  auto keywords = to_keywords(name, kwargs);
  keywords.set(name, py::str("grid"), grid);
  keywords.set(name, py::str("threadgroup"), threadgroup);
  keywords.set(name, py::str("output_shapes"), output_shapes);
  keywords.set(name, py::str("output_dtypes"), output_dtypes);
  auto form = fast::defines_kernel(source) ? PyKernel::Form::Complete : PyKernel::Form::Keywords;
  return PyKernel(form, name, source,
                  to_options(header, contiguous, atomic, compile_options, check, coverage),
                  std::move(keywords));
}

}  // namespace

void init_fast_metal_kernel(py::module_& m) {
  using namespace pybind11::literals;
  py::class_<PyKernel>(m, "MetalKernel",
                       "A kernel whose inputs are the keywords of its call. See metal_kernel.",
                       py::dynamic_attr(), collectable<PyKernel>())
      .def(py::init(&make_metal_kernel), "name"_a, "source"_a, "grid"_a = py::none(),
           "threadgroup"_a = py::none(), "output_shapes"_a = py::none(),
           "output_dtypes"_a = py::none(), "ensure_row_contiguous"_a = true, "header"_a = "",
           "atomic_outputs"_a = false, "compile_options"_a = py::none(), "check"_a = py::none(),
           "coverage"_a = false, kKernelInitDoc)
      .def("__call__", &PyKernel::call, kCallDoc)
      .def(
          "template",
          [](py::object self, const py::kwargs& values) {
            self.cast<PyKernel&>().set_template(values);
            return self;
          },
          "template(self, **values: Dtype | int | bool) -> MetalKernel\n\nSets template "
          "parameters.\n\nArgs:\n    **values: The value of each parameter.\n\nReturns:\n    The "
          "kernel itself.")
      .def_property_readonly("name", &PyKernel::name, "str: The name of the kernel.")
      .def_property_readonly("source", &PyKernel::source, "str: The source as it was given.")
      .def("__repr__",
           [](const PyKernel& k) { return "<mlx.core.fast.MetalKernel " + k.name() + ">"; });
  m.def("metal_kernel", &make_kernel, "name"_a, "input_names"_a = py::none(),
        "output_names"_a = py::none(), "source"_a = py::none(), "header"_a = "",
        "ensure_row_contiguous"_a = true, "atomic_outputs"_a = false,
        "compile_options"_a = py::none(), "check"_a = py::none(), "coverage"_a = false,
        kMetalKernelDoc);
}
