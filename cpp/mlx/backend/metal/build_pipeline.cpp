// Compiles kernels through Metal's host API.
#include "mlx/backend/metal/build_pipeline.h"

namespace mlx::core {

namespace {

[[noreturn]] void fail(const NS::Error* error) {
  const NS::String* text = error ? error->localizedDescription() : nullptr;
  throw PipelineError(text ? text->utf8String() : "unknown error");
}

NS::String* ns_string(const std::string& text) {
  return NS::String::string(text.c_str(), NS::UTF8StringEncoding);
}

}  // namespace

NS::SharedPtr<MTL::ComputePipelineState> build_pipeline(const PipelineSource& source,
                                                        MTL::Device* device) {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->setMathMode(source.math_mode);
  NS::Error* error = nullptr;
  auto library = NS::TransferPtr(device->newLibrary(ns_string(source.text), options.get(), &error));
  if (!library) fail(error);
  auto function = NS::TransferPtr(library->newFunction(ns_string(source.function)));
  if (!function) throw PipelineError("");
  function->setLabel(ns_string(source.label));
  auto pipeline = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
  if (!pipeline) fail(error);
  return pipeline;
}

}  // namespace mlx::core
