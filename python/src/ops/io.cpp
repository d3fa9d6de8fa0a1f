// load, save and related functions for files of arrays.
#include "mlx/io.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>

#include "convert/arguments.h"
#include "convert/convert.h"
#include "interpreter/wait.h"
#include "mlx/io/refusal.h"
#include "module.h"

using namespace pybind11::literals;

namespace {

const char* const kLoadDoc =
    R"(load(file: object, /, format: str | None = None, return_metadata: bool = False, *, stream: StreamOrDevice = None) -> array | dict[str, array] | tuple[dict[str, array], dict[str, Any]]

Loads arrays from a file.

What comes from a path is read when it is evaluated: the file must stay as it is until then. What
comes from a file object, or has the format "npz", is read at once.

Args:
    file: A path, or a file object that is opened in binary mode and can `seek`, which is read from
        its position on, or from its start in the format "npz". A "gguf" file must be a path.
    format: "npy", "npz", "safetensors" or "gguf". None means that the extension of the file's name
        says it.
    return_metadata: Whether the metadata are returned too. Only "safetensors" and "gguf" have some.

Returns:
    The array of an "npy" file, a dictionary of arrays of others. With `return_metadata` that and a
    dictionary of the metadata: each is a str, an array (of numbers) or a list of str.

    Quantised arrays of "gguf" files, of the types Q4_0, Q4_1 and Q8_0, come as three: "x.weight"
    with integers packed into uint32, and "x.scales" and "x.biases" in float16 for groups of 32.

Example:
    >>> import io
    >>> file = io.BytesIO()
    >>> mx.save(file, mx.array([1, 2]))
    >>> mx.load(io.BytesIO(file.getvalue()), format="npy")
    array([1, 2], dtype=int32))";

const char* const kSaveDoc = R"(save(file: object, arr: array) -> None

Saves an array in NumPy's format npy. `bfloat16` is stored as NumPy's "V2".

Args:
    file: A path, which gets the extension ".npy" if it has another one, or a file object that is
        opened in binary mode.
    arr: The array.)";

std::string savez_doc(const char* name, const char* how) {
  return std::string(name) + R"((file: object, *args: array, **kwargs: array) -> None

Saves arrays in NumPy's format npz, )" +
         how + R"(.

Args:
    file: A path, which gets the extension ".npz" if it has another one, or a file object that is
        opened in binary mode and can `seek`.
    *args: Arrays, which are called "arr_0", "arr_1" and so on.
    **kwargs: Arrays, which are called as the arguments are.)";
}

const char* const kSaveSafetensorsDoc =
    R"(save_safetensors(file: object, arrays: dict[str, array], metadata: dict[str, str] | None = None) -> None

Saves arrays in the format safetensors.

Args:
    file: A path, which gets the extension ".safetensors" if it has another one, or a file object
        that is opened in binary mode.
    arrays: The arrays and their names.
    metadata: Texts that are stored with them.)";

const char* const kSaveGgufDoc =
    R"(save_gguf(file: object, arrays: dict[str, array], metadata: dict[str, array | str | list[str]] | None = None) -> None

Saves arrays in the format GGUF.

Args:
    file: A path, which gets the extension ".gguf" if it has another one.
    arrays: The arrays and their names. They have at most 8 axes and one of the types float64,
        float32, float16, bfloat16, int8, int16, int32 and int64.
    metadata: What is stored with them: texts, lists of texts, and arrays with at most one axis.)";

// Data of file objects is copied in chunks of so many bytes.
constexpr size_t kPart = size_t(1) << 24;

std::string label_of(py::handle file) {
  const py::object name = py::getattr(file, "name", py::none());
  return py::isinstance<py::str>(name) ? mx::io::in_quotes(name.cast<std::string>())
                                       : py::repr(file).cast<std::string>();
}

bool has_methods(py::handle file, std::initializer_list<const char*> names) {
  return std::all_of(names.begin(), names.end(),
                     [&](const char* name) { return py::hasattr(file, name); });
}

size_t position_of(const py::object& file) { return file.attr("tell")().cast<size_t>(); }

void seek_in(const py::object& file, int64_t offset, std::ios_base::seekdir way) {
  if (way == std::ios_base::beg) {
    file.attr("seek")(offset);
  } else {
    file.attr("seek")(offset, way == std::ios_base::cur ? 1 : 2);
  }
}

// A Python file object. Its own errors say what is wrong with it, also that it is closed.
class ObjectReader : public mx::io::Reader {
 public:
  explicit ObjectReader(py::object file) : file_(std::move(file)), label_(label_of(file_)) {}

  bool is_open() const override { return true; }
  bool good() const override { return true; }
  std::string label() const override { return label_; }
  bool reads_later() const override { return false; }
  size_t tell() override { return position_of(file_); }
  void seek(int64_t offset, std::ios_base::seekdir way = std::ios_base::beg) override {
    seek_in(file_, offset, way);
  }
  void read(char* to, size_t bytes, size_t offset) override {
    file_.attr("seek")(offset);
    read(to, bytes);
  }

  void read(char* to, size_t bytes) override {
    while (bytes > 0) {
      const py::object part = file_.attr("read")(std::min(bytes, kPart));
      if (!py::isinstance<py::bytes>(part))
        throw py::type_error("[load] " + label_ + " must be opened in binary mode.");
      const auto view = part.cast<std::string_view>();
      if (view.empty() || view.size() > bytes)
        mx::io::Refusal{"load", label_}("The file ends too early.");
      std::memcpy(to, view.data(), view.size());
      to += view.size();
      bytes -= view.size();
    }
  }

 private:
  py::object file_;
  std::string label_;
};

class ObjectWriter : public mx::io::Writer {
 public:
  explicit ObjectWriter(py::object file) : file_(std::move(file)), label_(label_of(file_)) {}

  bool is_open() const override { return true; }
  bool good() const override { return true; }
  std::string label() const override { return label_; }
  size_t tell() override { return position_of(file_); }
  void seek(int64_t offset, std::ios_base::seekdir way = std::ios_base::beg) override {
    seek_in(file_, offset, way);
  }

  void write(const char* from, size_t bytes) override {
    while (bytes > 0) {
      const size_t given = std::min(bytes, kPart);
      const size_t taken = written(file_.attr("write")(py::bytes(from, given)), given);
      from += taken;
      bytes -= taken;
    }
  }

 private:
  // Unbuffered files return how much they have written; others may return nothing.
  size_t written(const py::object& answer, size_t given) const {
    if (!py::isinstance<py::int_>(answer)) return given;
    const auto taken = answer.cast<int64_t>();
    if (taken <= 0 || static_cast<size_t>(taken) > given)
      mx::io::Refusal{"save", label_}("The file does not take what is written.");
    return static_cast<size_t>(taken);
  }

  py::object file_;
  std::string label_;
};

// The bytes of a path as the file system takes them; nothing for a file object.
std::optional<std::string> path_of(const py::object& file, const char* op,
                                   std::initializer_list<const char*> methods) {
  const py::module_ os = py::module_::import("os");
  if (py::isinstance<py::str>(file) || py::hasattr(file, "__fspath__"))
    return os.attr("fsencode")(file).cast<std::string>();
  if (has_methods(file, methods)) return std::nullopt;
  std::string wanted;
  for (const char* name : methods) wanted += std::string(wanted.empty() ? "" : ", ") + name;
  throw std::invalid_argument(
      std::string("[") + op + "] file must be a str, a pathlib.Path or a file " +
      "object with the methods " + wanted + ", not " + type_name(file) + ".");
}

// Calls save with a path, without the interpreter's lock, or with a writer.
template <typename Save>
void save_to(const py::object& file, const char* op, std::initializer_list<const char*> methods,
             Save save) {
  if (const auto path = path_of(file, op, methods)) {
    wait_interruptibly([&] { save(*path); });
  } else {
    save(std::make_shared<ObjectWriter>(file));
  }
}

// The extension of a file's name; empty if it has none.
std::string extension_of(const py::object& file, const std::optional<std::string>& path) {
  const py::object name = py::getattr(file, "name", py::none());
  std::string text;
  if (path) {
    text = *path;
  } else if (py::isinstance<py::str>(name)) {
    text = name.cast<std::string>();
  }
  const size_t dot = text.find_last_of("./");
  return dot == text.npos || text[dot] == '/' ? "" : text.substr(dot + 1);
}

std::string format_of(const py::object& file, const std::optional<std::string>& path,
                      const std::optional<std::string>& given) {
  const std::string format = given ? *given : extension_of(file, path);
  constexpr const char* kKnown[] = {"npy", "npz", "safetensors", "gguf"};
  if (std::find(std::begin(kKnown), std::end(kKnown), format) != std::end(kKnown)) return format;
  const std::string label = path ? mx::io::in_quotes(*path) : label_of(file);
  throw std::invalid_argument(
      "[load] " +
      (given            ? "The format " + mx::io::in_quotes(format) + " is unknown"
       : format.empty() ? "The name of " + label + " has no extension that says the format"
                        : "The extension of " + label + " is unknown") +
      ": give \"npy\", \"npz\", \"safetensors\" or \"gguf\" as the format.");
}

// Text of a file, which may not be UTF-8: decoded as by os.fsdecode.
py::str to_str(const std::string& text) {
  PyObject* decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  if (!decoded) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(decoded);
}

std::string from_str(py::handle text) {
  return text.attr("encode")("utf-8", "surrogateescape").cast<std::string>();
}

py::object to_object(const mx::array& a) { return py::cast(a); }
py::object to_object(const std::string& text) { return to_str(text); }
py::object to_object(const mx::GGUFMetaData& value) {
  if (const auto* a = std::get_if<mx::array>(&value)) return py::cast(*a);
  if (const auto* text = std::get_if<std::string>(&value)) return to_str(*text);
  py::list texts;
  for (const auto& text : std::get<std::vector<std::string>>(value)) texts.append(to_str(text));
  return texts;
}

// The keys are sorted, since the map's own order depends on its implementation.
template <typename Value>
py::dict to_dict(const std::unordered_map<std::string, Value>& map) {
  std::vector<const std::string*> keys;
  for (const auto& [key, value] : map) keys.push_back(&key);
  std::sort(keys.begin(), keys.end(), [](auto* a, auto* b) { return *a < *b; });
  py::dict out;
  for (const auto* key : keys) out[to_str(*key)] = to_object(map.at(*key));
  return out;
}

template <typename Loaded>
py::object with_metadata(const Loaded& loaded, bool wanted) {
  if (!wanted) return to_dict(loaded.first);
  return py::make_tuple(to_dict(loaded.first), to_dict(loaded.second));
}

// Calls load with the path, without the interpreter's lock, or with a reader.
template <typename Load>
auto load_from(const py::object& file, const std::optional<std::string>& path, Load load)
    -> decltype(load(std::string())) {
  if (!path) return load(std::make_shared<ObjectReader>(file));
  std::optional<decltype(load(std::string()))> loaded;
  wait_interruptibly([&] { loaded = load(*path); });
  return std::move(*loaded);
}

py::object load(const py::object& file, const std::optional<std::string>& given,
                bool return_metadata, StreamArg s) {
  const auto path = path_of(file, "load", {"read", "seek", "tell"});
  const std::string format = format_of(file, path, given);
  if (return_metadata && (format == "npy" || format == "npz"))
    throw std::invalid_argument("[load] The format \"" + format + "\" has no metadata.");
  if (format == "npy") {
    return py::cast(load_from(file, path, [&](const auto& from) { return mx::load(from, s); }));
  }
  if (format == "npz") {
    return to_dict(load_from(file, path, [&](const auto& from) { return mx::load_npz(from, s); }));
  }
  if (format == "safetensors") {
    return with_metadata(
        load_from(file, path, [&](const auto& from) { return mx::load_safetensors(from, s); }),
        return_metadata);
  }
  if (!path) throw py::type_error("[load] Files in the format \"gguf\" must be paths.");
  std::optional<mx::GGUFLoad> loaded;
  wait_interruptibly([&] { loaded = mx::load_gguf(*path, s); });
  return with_metadata(*loaded, return_metadata);
}

[[noreturn]] void wrong_type(const char* op, const std::string& what, const char* wanted,
                             py::handle given) {
  throw py::type_error(std::string("[") + op + "] " + what + " must be " + wanted + ", not " +
                       type_name(given) + ".");
}

mx::array to_save(py::handle value, const char* op, const std::string& what) {
  if (!is_array(value)) wrong_type(op, what, "an array", value);
  return value.cast<mx::array>();
}

// Calls take(key, value) for the items of a dictionary whose keys must be strings.
template <typename Take>
void each_item(const py::dict& items, const char* op, const char* what, Take take) {
  for (const auto& [key, value] : items) {
    if (!py::isinstance<py::str>(key))
      wrong_type(op, std::string("The keys of ") + what, "a str", key);
    take(from_str(key), value);
  }
}

using NamedArrays = std::unordered_map<std::string, mx::array>;

NamedArrays arrays_of(const py::dict& items, const char* op) {
  NamedArrays arrays;
  each_item(items, op, "arrays", [&](const std::string& key, py::handle value) {
    arrays.emplace(key, to_save(value, op, "arrays[" + mx::io::in_quotes(key) + "]"));
  });
  return arrays;
}

void savez(const char* op, const py::object& file, const py::args& args, const py::kwargs& kwargs,
           bool compressed) {
  NamedArrays arrays = arrays_of(kwargs, op);
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string name = "arr_" + std::to_string(i);
    if (!arrays.emplace(name, to_save(args[i], op, "args[" + std::to_string(i) + "]")).second) {
      throw std::invalid_argument(std::string("[") + op + "] The name \"" + name +
                                  "\" is that of an array without one: choose another.");
    }
  }
  save_to(file, op, {"write", "seek", "tell"},
          [&](const auto& to) { mx::save_npz(to, arrays, compressed); });
}

void save_safetensors(const py::object& file, const py::dict& arrays,
                      const std::optional<py::dict>& metadata) {
  constexpr const char* kOp = "save_safetensors";
  std::unordered_map<std::string, std::string> texts;
  each_item(metadata.value_or(py::dict()), kOp, "metadata",
            [&](const std::string& key, py::handle value) {
              if (!py::isinstance<py::str>(value))
                wrong_type(kOp, "metadata[" + mx::io::in_quotes(key) + "]", "a str", value);
              texts.emplace(key, from_str(value));
            });
  const NamedArrays to_write = arrays_of(arrays, kOp);
  save_to(file, kOp, {"write"}, [&](const auto& to) { mx::save_safetensors(to, to_write, texts); });
}

mx::GGUFMetaData gguf_value(const std::string& key, py::handle value) {
  if (is_array(value)) return value.cast<mx::array>();
  if (py::isinstance<py::str>(value)) return from_str(value);
  constexpr const char* kWanted = "an array, a str or a list of str";
  const std::string what = "metadata[" + mx::io::in_quotes(key) + "]";
  if (!py::isinstance<py::list>(value)) wrong_type("save_gguf", what, kWanted, value);
  std::vector<std::string> texts;
  for (py::handle text : value) {
    if (!py::isinstance<py::str>(text)) wrong_type("save_gguf", what, kWanted, text);
    texts.push_back(from_str(text));
  }
  return texts;
}

void save_gguf(const py::object& file, const py::dict& arrays,
               const std::optional<py::dict>& metadata) {
  const auto path = path_of(file, "save_gguf", {"write"});
  if (!path) throw py::type_error("[save_gguf] file must be a str or a pathlib.Path.");
  std::unordered_map<std::string, mx::GGUFMetaData> values;
  each_item(metadata.value_or(py::dict()), "save_gguf", "metadata",
            [&](const std::string& key, py::handle value) {
              values.emplace(key, gguf_value(key, value));
            });
  const NamedArrays to_write = arrays_of(arrays, "save_gguf");
  wait_interruptibly([&] { mx::save_gguf(*path, to_write, values); });
}

}  // namespace

void init_io(py::module_& m) {
  m.def("load", &load, "file"_a, py::pos_only(), "format"_a = py::none(),
        "return_metadata"_a = false, py::kw_only(), "stream"_a = py::none(), kLoadDoc);
  m.def(
      "save",
      [](const py::object& file, const mx::array& a) {
        save_to(file, "save", {"write"}, [&](const auto& to) { mx::save(to, a); });
      },
      "file"_a, "arr"_a, kSaveDoc);
  m.def(
      "savez",
      [](const py::object& file, const py::args& args, const py::kwargs& kwargs) {
        savez("savez", file, args, kwargs, false);
      },
      "file"_a, savez_doc("savez", "as they are").c_str());
  m.def(
      "savez_compressed",
      [](const py::object& file, const py::args& args, const py::kwargs& kwargs) {
        savez("savez_compressed", file, args, kwargs, true);
      },
      "file"_a, savez_doc("savez_compressed", "compressed").c_str());
  m.def("save_safetensors", &save_safetensors, "file"_a, "arrays"_a, "metadata"_a = py::none(),
        kSaveSafetensorsDoc);
  m.def("save_gguf", &save_gguf, "file"_a, "arrays"_a, "metadata"_a = py::none(), kSaveGgufDoc);
}
