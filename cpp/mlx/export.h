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

// What a function's graph consists of, one event after the other. "type" says what the event tells:
//   "inputs"          "inputs": the name, shape and type of each, those with keywords last
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

// Records a function for each list of inputs that it is called with, and writes them to one file.
// Arrays that the function captures are constants of the file.
struct FunctionExporter {
  using Function = std::function<std::vector<array>(const Args&, const Kwargs&)>;

  FunctionExporter(std::string file, Function fun, bool shapeless, std::string metadata);
  FunctionExporter(ExportCallback callback, Function fun, bool shapeless);
  // Writes the file if it is not written, and keeps silent where that fails.
  ~FunctionExporter();
  FunctionExporter(FunctionExporter&&) noexcept;
  FunctionExporter(const FunctionExporter&) = delete;
  FunctionExporter& operator=(const FunctionExporter&) = delete;

  void operator()(const std::initializer_list<array>& args) { (*this)(Args(args), {}); }
  void operator()(const Args& args) { (*this)(args, {}); }
  void operator()(const Kwargs& kwargs) { (*this)(Args{}, kwargs); }
  void operator()(const Args& args, const Kwargs& kwargs);

  // Writes the file. The exporter can be called no more.
  void close();
  // Forgets everything: no file is written.
  void discard();

 private:
  struct Recording;
  std::unique_ptr<Recording> recording_;
};

// If `shapeless`, the file's functions take inputs of any shapes of the same ranks. The metadata
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
// These write no file: they call the callback.
FunctionExporter exporter(const ExportCallback& callback,
                          const std::function<std::vector<array>(const Args&)>& fun,
                          bool shapeless = false);
FunctionExporter exporter(const ExportCallback& callback,
                          const std::function<std::vector<array>(const Kwargs&)>& fun,
                          bool shapeless = false);
FunctionExporter exporter(const ExportCallback& callback,
                          const std::function<std::vector<array>(const Args&, const Kwargs&)>& fun,
                          bool shapeless = false);

// The same for one list of inputs.
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

// A function from a file. It takes what it was exported for: as many arrays and the same keywords,
// of the same types and shapes (ranks, if exported so). std::invalid_argument says what it takes.
struct ImportedFunction {
  // Throws std::runtime_error where the file is damaged, or no such file at all.
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

// A file is a program, and may hold kernels: import those only that you would run.
ImportedFunction import_function(const std::string& file);

}  // namespace mlx::core
