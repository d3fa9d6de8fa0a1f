// Functions in files: their graphs are recorded, written, and read by other programs.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "mlx/array.h"

namespace mlx::core {

using Args = std::vector<array>;
using Kwargs = std::unordered_map<std::string, array>;

// A parameter of a primitive.
using StateT = std::variant<bool, int, size_t, int64_t, float, double, Dtype, std::vector<int>,
                            std::vector<int64_t>, std::string>;

// An event describes a part of a function's graph; callbacks get one after the other. Its "type"
// says which part, and it has these other entries:
//   "keyword_inputs"  "keywords": the keyword and the name of each
//   "outputs"         "outputs": the name, shape and type of each
//   "constants"       "constants": the name and the array of each
//   "primitive"       "name", "inputs", "outputs" and "arguments" (its parameters)
using ExportCallbackInput =
    std::unordered_map<std::string, std::variant<std::vector<std::tuple<std::string, Shape, Dtype>>,
                                                 std::vector<std::pair<std::string, array>>,
                                                 std::vector<std::pair<std::string, std::string>>,
                                                 std::vector<StateT>, std::string>>;
using ExportCallback = std::function<void(const ExportCallbackInput&)>;

// Records a function for each list of inputs that it is called with, and writes all recordings to
// one file. Arrays that the function captures become constants of the file.
struct FunctionExporter {
  using Function = std::function<std::vector<array>(const Args&, const Kwargs&)>;

  FunctionExporter(std::string file, Function fun, bool shapeless, std::string metadata);
  FunctionExporter(ExportCallback callback, Function fun, bool shapeless);
  // Writes the file if it is not yet written, and ignores errors.
  ~FunctionExporter();
  FunctionExporter(FunctionExporter&&) noexcept;
  FunctionExporter(const FunctionExporter&) = delete;
  FunctionExporter& operator=(const FunctionExporter&) = delete;

  void operator()(const std::initializer_list<array>& args) { (*this)(Args(args), {}); }
  void operator()(const Args& args) { (*this)(args, {}); }
  void operator()(const Kwargs& kwargs) { (*this)(Args{}, kwargs); }
  void operator()(const Args& args, const Kwargs& kwargs);

  // Writes the file. After that the exporter cannot be called.
  void close();
  // Drops the recordings: no file is written.
  void discard();

 private:
  struct Recording;
  std::unique_ptr<Recording> recording_;
};

// If `shapeless`, the file's functions take inputs of any shapes with the same ranks. The metadata
// are any text.
FunctionExporter exporter(const std::string& file,
                          const std::function<std::vector<array>(const Args&)>& fun,
                          bool shapeless = false, const std::string& metadata = "");
FunctionExporter exporter(const std::string& file,
                          const std::function<std::vector<array>(const Kwargs&)>& fun,
                          bool shapeless = false, const std::string& metadata = "");
FunctionExporter exporter(const std::string& file,
                          const std::function<std::vector<array>(const Args&, const Kwargs&)>& fun,
                          bool shapeless = false, const std::string& metadata = "");
// These write no file, but call the callback.
FunctionExporter exporter(const ExportCallback& callback,
                          const std::function<std::vector<array>(const Args&)>& fun,
                          bool shapeless = false);
FunctionExporter exporter(const ExportCallback& callback,
                          const std::function<std::vector<array>(const Kwargs&)>& fun,
                          bool shapeless = false);
FunctionExporter exporter(const ExportCallback& callback,
                          const std::function<std::vector<array>(const Args&, const Kwargs&)>& fun,
                          bool shapeless = false);

// The same for a single list of inputs.
void export_function(const std::string& file,
                     const std::function<std::vector<array>(const Args&)>& fun, const Args& args,
                     bool shapeless = false, const std::string& metadata = "");
void export_function(const std::string& file,
                     const std::function<std::vector<array>(const Kwargs&)>& fun,
                     const Kwargs& kwargs, bool shapeless = false,
                     const std::string& metadata = "");
void export_function(const std::string& file,
                     const std::function<std::vector<array>(const Args&, const Kwargs&)>& fun,
                     const Args& args, const Kwargs& kwargs, bool shapeless = false,
                     const std::string& metadata = "");
void export_function(const ExportCallback& callback,
                     const std::function<std::vector<array>(const Args&)>& fun, const Args& args,
                     bool shapeless = false);
void export_function(const ExportCallback& callback,
                     const std::function<std::vector<array>(const Kwargs&)>& fun,
                     const Kwargs& kwargs, bool shapeless = false);
void export_function(const ExportCallback& callback,
                     const std::function<std::vector<array>(const Args&, const Kwargs&)>& fun,
                     const Args& args, const Kwargs& kwargs, bool shapeless = false);

// A function from a file. It takes the inputs that it was exported for: the same number of arrays,
// keywords, types and shapes (or ranks, if exported shapeless). Positional inputs may also come
// with keywords, of which the file knows nothing: the order is alphabetic. For other inputs it
// throws std::invalid_argument, with a message that lists what it takes.
struct ImportedFunction {
  // Throws std::runtime_error if the file is damaged or has another format.
  explicit ImportedFunction(const std::string& file);

  std::vector<array> operator()(const std::initializer_list<array>& args) const {
    return (*this)(Args(args), {});
  }
  std::vector<array> operator()(const Args& args) const { return (*this)(args, {}); }
  std::vector<array> operator()(const Kwargs& kwargs) const { return (*this)(Args{}, kwargs); }
  std::vector<array> operator()(const Args& args, const Kwargs& kwargs) const;

  const std::string& metadata() const;

 private:
  struct Functions;
  std::shared_ptr<const Functions> functions_;
};

// A file is a program and may contain kernels: import only those that you would run.
ImportedFunction import_function(const std::string& file);

}  // namespace mlx::core
