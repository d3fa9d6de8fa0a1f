// FunctionExporter, and the functions that make one.
#include <stdexcept>

#include "mlx/errors.h"
#include "mlx/export.h"
#include "mlx/export/file.h"

namespace mlx::core {

struct FunctionExporter::Recording {
  std::string file;
  ExportCallback callback;  // instead of a file
  Function fun;
  bool shapeless;
  std::string metadata;

  std::vector<exported::Signature> signatures{};  // of the functions
  exported::ByteWriter functions{};
  exported::Constants constants{};
};

namespace {

using Function = FunctionExporter::Function;
using ArgsFunction = std::function<std::vector<array>(const Args&)>;
using KwargsFunction = std::function<std::vector<array>(const Kwargs&)>;

Function of_args(const ArgsFunction& fun) {
  return [fun](const Args& args, const Kwargs& kwargs) {
    if (!kwargs.empty()) {
      invalid_argument("exporter", "The function takes no arrays with keywords.");
    }
    return fun(args);
  };
}

Function of_kwargs(const KwargsFunction& fun) {
  return [fun](const Args& args, const Kwargs& kwargs) {
    if (!args.empty())
      invalid_argument("exporter", "The function takes arrays with keywords only.");
    return fun(kwargs);
  };
}

void export_once(FunctionExporter exporter, const Args& args, const Kwargs& kwargs) {
  try {
    exporter(args, kwargs);
  } catch (...) {
    exporter.discard();
    throw;
  }
  exporter.close();
}

}  // namespace

FunctionExporter::FunctionExporter(std::string file, Function fun, bool shapeless,
                                   std::string metadata)
    : recording_(
          new Recording{std::move(file), {}, std::move(fun), shapeless, std::move(metadata)}) {}

FunctionExporter::FunctionExporter(ExportCallback callback, Function fun, bool shapeless)
    : recording_(new Recording{{}, std::move(callback), std::move(fun), shapeless, {}}) {}

FunctionExporter::FunctionExporter(FunctionExporter&&) noexcept = default;

FunctionExporter::~FunctionExporter() {
  try {
    close();
  } catch (...) {  // whoever needs the error calls close
  }
}

void FunctionExporter::operator()(const Args& args, const Kwargs& kwargs) {
  if (!recording_) {
    throw std::runtime_error("[exporter] The file is written: no more can be added.");
  }
  Recording& r = *recording_;
  for (const auto& signature : r.signatures) {
    if (!signature.in_order(args, kwargs)) continue;
    throw std::runtime_error("[exporter] A function of " + signature.text() +
                             " is there already, which takes these inputs too.");
  }
  const auto function = exported::record(r.fun, args, kwargs, r.shapeless);
  if (r.callback) return exported::report(function, r.callback);
  // If writing fails, the recording must stay as it is.
  exported::ByteWriter bytes;
  exported::Constants constants = r.constants;
  exported::write_function(function, constants, bytes);
  r.functions.bytes += bytes.bytes;
  r.constants = std::move(constants);
  r.signatures.push_back(function.signature());
}

void FunctionExporter::close() {
  const auto recording = std::move(recording_);
  if (!recording || recording->callback) return;
  exported::write_file(recording->file, recording->metadata, recording->shapeless,
                       recording->signatures.size(), recording->functions.bytes,
                       recording->constants.all());
}

void FunctionExporter::discard() { recording_.reset(); }

FunctionExporter exporter(const std::string& file, const ArgsFunction& fun, bool shapeless,
                          const std::string& metadata) {
  return {file, of_args(fun), shapeless, metadata};
}
FunctionExporter exporter(const std::string& file, const KwargsFunction& fun, bool shapeless,
                          const std::string& metadata) {
  return {file, of_kwargs(fun), shapeless, metadata};
}
FunctionExporter exporter(const std::string& file, const Function& fun, bool shapeless,
                          const std::string& metadata) {
  return {file, fun, shapeless, metadata};
}
FunctionExporter exporter(const ExportCallback& callback, const ArgsFunction& fun, bool shapeless) {
  return {callback, of_args(fun), shapeless};
}
FunctionExporter exporter(const ExportCallback& callback, const KwargsFunction& fun,
                          bool shapeless) {
  return {callback, of_kwargs(fun), shapeless};
}
FunctionExporter exporter(const ExportCallback& callback, const Function& fun, bool shapeless) {
  return {callback, fun, shapeless};
}

void export_function(const std::string& file, const ArgsFunction& fun, const Args& args,
                     bool shapeless, const std::string& metadata) {
  export_once(exporter(file, fun, shapeless, metadata), args, {});
}
void export_function(const std::string& file, const KwargsFunction& fun, const Kwargs& kwargs,
                     bool shapeless, const std::string& metadata) {
  export_once(exporter(file, fun, shapeless, metadata), {}, kwargs);
}
void export_function(const std::string& file, const Function& fun, const Args& args,
                     const Kwargs& kwargs, bool shapeless, const std::string& metadata) {
  export_once(exporter(file, fun, shapeless, metadata), args, kwargs);
}
void export_function(const ExportCallback& callback, const ArgsFunction& fun, const Args& args,
                     bool shapeless) {
  export_once(exporter(callback, fun, shapeless), args, {});
}
void export_function(const ExportCallback& callback, const KwargsFunction& fun,
                     const Kwargs& kwargs, bool shapeless) {
  export_once(exporter(callback, fun, shapeless), {}, kwargs);
}
void export_function(const ExportCallback& callback, const Function& fun, const Args& args,
                     const Kwargs& kwargs, bool shapeless) {
  export_once(exporter(callback, fun, shapeless), args, kwargs);
}

}  // namespace mlx::core
