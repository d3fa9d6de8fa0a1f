// Exported functions, and drawings of graphs.
#include "mlx/export.h"

#include <pybind11/stl.h>

#include <sstream>
#include <stdexcept>
#include <string>

#include "convert/arguments.h"
#include "convert/convert.h"
#include "interpreter/collectable.h"
#include "interpreter/wait.h"
#include "mlx/graph_utils.h"
#include "mlx/io/load.h"
#include "transforms/transforms.h"

using namespace pybind11::literals;

namespace {

const char* const kExportFunctionDoc =
    R"(export_function(file_or_callback: object, fun: Callable[..., Any], *args: object, shapeless: bool = False, metadata: str | None = None, **kwargs: array) -> None

Records the graph of a function and writes it to a file, from which `import_function` makes a
function in any other program, of Python or C++.

The function is called once with arrays that have the shapes and types of the given ones. It must
not evaluate its arrays; arrays that it captures are written with it. A `custom_function` is written
as the operations that it consists of, without rules of its own.

Args:
    file_or_callback: A path, or a function that is called with a dictionary for each part of the
        graph instead. Its "type" is "inputs", "keyword_inputs", "outputs", "constants" or
        "primitive".
    fun: The function of arrays, which returns an array or a list or tuple of arrays.
    *args: The arrays to call it with; or a list or tuple of them, a dictionary of those with
        keywords, or both.
    shapeless: Whether the function in the file takes arrays of all shapes of the same ranks.
        Functions that depend on a shape, as by slices, then fail or give the results of the first
        one.
    metadata: Any text, which is kept in the file.
    **kwargs: Arrays that the function takes by keywords. So does the one in the file.

Example:
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "double.mlxfn")
    >>> mx.export_function(path, lambda x: 2 * x, mx.array([1.0, 2.0]))
    >>> mx.import_function(path)(mx.array([3.0, 4.0]))
    (array([6, 8], dtype=float32),))";

const char* const kExporterDoc =
    R"(exporter(file: object, fun: Callable[..., Any], *, shapeless: bool = False, metadata: str | None = None) -> FunctionExporter

Makes an object that writes a function to a file for several lists of inputs: for other numbers,
shapes, types or keywords. What functions have in common of captured arrays is written once.

Args:
    file: A path.
    fun: The function, as in `export_function`.
    shapeless: As in `export_function`.
    metadata: As in `export_function`.

Returns:
    The exporter, which is called with inputs for each. It writes the file when it is closed, as by
    the end of a `with` statement.

Example:
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "sum.mlxfn")
    >>> with mx.exporter(path, lambda *args: sum(args)) as exporter:
    ...     exporter(mx.array(1))
    ...     exporter(mx.array(1), mx.array(2))
    >>> mx.import_function(path)(mx.array(3), mx.array(4))
    (array(7, dtype=int32),))";

const char* const kImportFunctionDoc =
    R"(import_function(file: object, return_metadata: bool = False) -> Callable[..., tuple[array, ...]] | tuple[Callable[..., tuple[array, ...]], str]

Makes a function from a file that `export_function` or `exporter` has written.

It takes what it was exported for: as many arrays, of the same types and shapes, and the same
keywords. Other keywords stand for the last positional arrays, in alphabetic order, since the file
does not have their names. Arrays may also come as one list or tuple, and those with keywords as a
dictionary behind it. It can be transformed and exported like any other function. Operations run on the default
streams of the devices for which they were recorded.

A file is a program, and may hold kernels: import those only that you would run.

Args:
    file: A path.
    return_metadata: Whether the text that is kept in the file is returned too.

Returns:
    The function. It returns a tuple of arrays. With `return_metadata` it and the text.)";

const char* const kExportToDotDoc =
    R"(export_to_dot(file: object, *args: object, **kwargs: array) -> None

Draws the graph of arrays that are not evaluated in the language DOT of Graphviz: arrays are
ellipses, operations are rectangles.

Args:
    file: A path, or a file object that is opened for text.
    *args: The arrays, or trees of arrays.
    **kwargs: Arrays of the graph, which are named by the keywords. Others are A, B and so on.

Example:
    >>> import io
    >>> file = io.StringIO()
    >>> x = mx.array(1)
    >>> mx.export_to_dot(file, x + 1, x=x)
    >>> "label=\"Add\", shape=rectangle" in file.getvalue()
    True)";

// The bytes of a path as the file system takes them.
std::string path_of(const py::object& file, const char* op) {
  if (py::isinstance<py::str>(file) || py::hasattr(file, "__fspath__")) {
    return py::module_::import("os").attr("fsencode")(file).cast<std::string>();
  }
  throw py::type_error(std::string("[") + op + "] file must be a str or a pathlib.Path, not " +
                       type_name(file) + ".");
}

// ---- inputs and outputs ----

struct Inputs {
  mx::Args args;
  mx::Kwargs kwargs;
};

class InputReader {
 public:
  explicit InputReader(const char* op) : op_(op) {}

  Inputs operator()(const py::args& args, const py::kwargs& kwargs) {
    const size_t count = args.size();
    const bool has_list = count > 0 && is_list(args[0]);
    const bool has_dict = count > 0 && PyDict_Check(py::object(args[count - 1]).ptr());
    if (count <= 2 && has_list + has_dict == count) {
      if (has_list) add_list(args[0]);
      if (has_dict) add_keywords(args[count - 1]);
    } else {
      add_list(args);
    }
    add_keywords(kwargs);
    return std::move(inputs_);
  }

 private:
  static bool is_list(py::handle h) { return PyList_Check(h.ptr()) || PyTuple_Check(h.ptr()); }

  void add_list(py::handle list) {
    for (py::handle item : list) inputs_.args.push_back(to_input(item));
  }
  void add_keywords(py::handle dict) {
    for (auto item : py::reinterpret_borrow<py::dict>(dict)) {
      if (!PyUnicode_Check(item.first.ptr())) fail("a keyword is no str");
      const auto keyword = item.first.cast<std::string>();
      if (!inputs_.kwargs.emplace(keyword, to_input(item.second)).second) {
        fail("the keyword \"" + keyword + "\" comes twice");
      }
    }
  }
  const mx::array& to_input(py::handle h) {
    if (!is_array(h)) fail("one is a " + type_name(h));
    return h.cast<const mx::array&>();
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw std::invalid_argument(std::string("[") + op_ +
                                "] The inputs must be arrays, some of them by keywords, or one "
                                "tuple or list of arrays and one dictionary of arrays, but " +
                                why + ".");
  }

  const char* op_;
  Inputs inputs_;
};

Arrays to_outputs(const py::object& result) {
  auto fail = [](py::handle h) {
    throw std::invalid_argument(
        std::string("[export_function] The function must return an array or a list or tuple of "
                    "arrays, but there is a ") +
        type_name(h) + ".");
  };
  if (is_array(result)) return {result.cast<const mx::array&>()};
  if (!PyList_Check(result.ptr()) && !PyTuple_Check(result.ptr())) fail(result);
  Arrays outputs;
  for (py::handle item : result) {
    if (!is_array(item)) fail(item);
    outputs.push_back(item.cast<const mx::array&>());
  }
  return outputs;
}

// The caller keeps the function alive while it may be called.
mx::FunctionExporter::Function flat_function(py::handle fun) {
  return [fun](const mx::Args& args, const mx::Kwargs& kwargs) {
    py::dict keywords;
    for (const auto& [keyword, value] : kwargs) keywords[py::str(keyword)] = py::cast(value);
    return to_outputs(fun(*to_tuple(args), **keywords));
  };
}

void check_function(const py::object& fun, const char* op) {
  if (!PyCallable_Check(fun.ptr())) {
    throw py::type_error(std::string("[") + op + "] Expected a function but got " + type_name(fun) +
                         ".");
  }
}

// ---- callbacks ----

struct ToPython {
  py::object operator()(const std::string& text) const { return py::str(text); }
  py::object operator()(
      const std::vector<std::tuple<std::string, mx::Shape, mx::Dtype>>& values) const {
    py::list out;
    for (const auto& [name, shape, dtype] : values) {
      out.append(py::make_tuple(name, ints_to_tuple(shape), dtype));
    }
    return std::move(out);
  }
  template <typename Value>
  py::object operator()(const std::vector<std::pair<std::string, Value>>& values) const {
    py::list out;
    for (const auto& [name, value] : values) out.append(py::make_tuple(name, value));
    return std::move(out);
  }
  py::object operator()(const std::vector<mx::StateT>& values) const {
    py::list out;
    for (const auto& value : values) {
      out.append(std::visit([](const auto& held) -> py::object { return py::cast(held); }, value));
    }
    return std::move(out);
  }
};

mx::ExportCallback to_callback(py::handle callback) {
  return [callback](const mx::ExportCallbackInput& event) {
    py::dict dict;
    for (const auto& [key, value] : event) dict[py::str(key)] = std::visit(ToPython{}, value);
    callback(dict);
  };
}

// ---- export ----

struct Exporter {
  mx::FunctionExporter exporter;
  py::object fun;

  void operator()(const py::args& args, const py::kwargs& kwargs) {
    check_function(fun, "exporter");  // the garbage collector may have cleared it
    const Inputs inputs = InputReader("exporter")(args, kwargs);
    exporter(inputs.args, inputs.kwargs);
  }
  void close() {
    wait_interruptibly([this] { exporter.close(); });
  }

  void exit(const py::args& exception) {
    if (exception.empty() || py::object(exception[0]).is_none()) return close();
    exporter.discard();
  }

  template <typename F>
  void each_object(F& f) {
    f(fun);
  }
};

void export_function(const py::object& file_or_callback, const py::object& fun,
                     const py::args& args, bool shapeless,
                     const std::optional<std::string>& metadata, const py::kwargs& kwargs) {
  constexpr const char* kOp = "export_function";
  check_function(fun, kOp);
  const Inputs inputs = InputReader(kOp)(args, kwargs);
  if (PyCallable_Check(file_or_callback.ptr())) {
    return mx::export_function(to_callback(file_or_callback), flat_function(fun), inputs.args,
                               inputs.kwargs, shapeless);
  }
  Exporter exporter{mx::exporter(path_of(file_or_callback, kOp), flat_function(fun), shapeless,
                                 metadata.value_or("")),
                    fun};
  try {
    exporter.exporter(inputs.args, inputs.kwargs);
  } catch (...) {
    exporter.exporter.discard();
    throw;
  }
  exporter.close();
}

void define_exporter(py::module_& m) {
  py::class_<Exporter>(m, "FunctionExporter", py::dynamic_attr(), collectable<Exporter>(),
                       py::module_local(),
                       "Writes a function to a file for several lists of inputs: see `exporter`.")
      .def("__call__", &Exporter::operator(),
           "__call__(self, *args: object, **kwargs: array) -> None\n\n"
           "Adds the function of such inputs.")
      .def("close", &Exporter::close,
           "Writes the file. The exporter can be called no more after it.")
      .def(
          "__enter__", [](py::object self) { return self; },
          "__enter__(self) -> FunctionExporter\n\nReturns the exporter itself.")
      .def("__exit__", &Exporter::exit,
           "__exit__(self, *exception: object) -> None\n\n"
           "Writes the file, unless there was an exception.");
  m.def(
      "exporter",
      [](const py::object& file, const py::object& fun, bool shapeless,
         const std::optional<std::string>& metadata) {
        check_function(fun, "exporter");
        return std::make_unique<Exporter>(
            Exporter{mx::exporter(path_of(file, "exporter"), flat_function(fun), shapeless,
                                  metadata.value_or("")),
                     fun});
      },
      "file"_a, "fun"_a, py::kw_only(), "shapeless"_a = false, "metadata"_a = py::none(),
      kExporterDoc);
}

// ---- import ----

py::object import_function(const py::object& file, bool return_metadata) {
  const std::string path = path_of(file, "import_function");
  std::optional<mx::ImportedFunction> function;
  wait_interruptibly([&] { function = mx::import_function(path); });
  py::object imported = py::cast(*function);
  if (!return_metadata) return imported;
  return py::make_tuple(imported, function->metadata());
}

// ---- drawings ----

void export_to_dot(const py::object& file, const py::args& args, const py::kwargs& kwargs) {
  constexpr const char* kOp = "export_to_dot";
  mx::NodeNamer namer;
  for (auto item : kwargs) {
    if (!is_array(item.second)) {
      throw std::invalid_argument(std::string("[") + kOp + "] \"" + item.first.cast<std::string>() +
                                  "\" must name an array, not a " + type_name(item.second) + ".");
    }
    namer.set_name(item.second.cast<const mx::array&>(), item.first.cast<std::string>());
  }
  const Arrays outputs = tree_flatten(args, true, kOp);
  const bool is_object = py::hasattr(file, "write");
  const std::string path = is_object ? "" : path_of(file, kOp);
  std::ostringstream text;
  mx::export_to_dot(text, namer, outputs);
  if (is_object) {
    file.attr("write")(text.str());
    return;
  }
  mx::io::FileWriter writer(path, kOp);
  writer.open();
  writer.write(text.str().data(), text.str().size());
  writer.close();
}

}  // namespace

void init_export(py::module_& m) {
  py::class_<mx::ImportedFunction>(m, "_ImportedFunction", py::module_local())
      .def("__call__",
           [](const mx::ImportedFunction& self, const py::args& args, const py::kwargs& kwargs) {
             const Inputs inputs = InputReader("import_function")(args, kwargs);
             return to_tuple(self(inputs.args, inputs.kwargs));
           });
  define_exporter(m);
  m.def("export_function", &export_function, "file_or_callback"_a, "fun"_a, "shapeless"_a = false,
        "metadata"_a = py::none(), kExportFunctionDoc);
  m.def("import_function", &import_function, "file"_a, "return_metadata"_a = false,
        kImportFunctionDoc);
  m.def("export_to_dot", &export_to_dot, "file"_a, kExportToDotDoc);
}
