// Runs a kernel of a .metallib through Metal's host API, with the names of metal-cpp.
#include <cstdio>
#include <numeric>

#include "Metal/Metal.hpp"
#include "sizes.h"

namespace {

NS::String* text(const char* value) { return NS::String::string(value, NS::UTF8StringEncoding); }

int fail(const char* what, NS::Error* error) {
  std::fprintf(stderr, "%s: %s\n", what, error ? error->localizedDescription()->utf8String() : "");
  return 1;
}

}  // namespace

int main() {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  NS::Error* error = nullptr;
  auto library = NS::TransferPtr(device->newLibrary(text(SCALE_LIBRARY), &error));
  if (!library) return fail("the library", error);
  auto function = NS::TransferPtr(library->newFunction(text("scale")));
  if (!function) return fail("the library has no such kernel", nullptr);
  auto pipeline = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
  if (!pipeline) return fail("the kernel", error);

  constexpr int kCount = 1000;
  auto buffer =
      NS::TransferPtr(device->newBuffer(kCount * sizeof(float), MTL::ResourceStorageModeShared));
  auto* values = static_cast<float*>(buffer->contents());
  std::iota(values, values + kCount, 0.0f);
  const Sizes sizes{0.5f};

  auto queue = NS::TransferPtr(device->newCommandQueue());
  auto* commands = queue->commandBuffer();
  auto* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline.get());
  encoder->setBuffer(buffer.get(), 0, 0);
  encoder->setBytes(&sizes, sizeof(sizes), 1);
  encoder->dispatchThreads(MTL::Size(kCount, 1, 1), MTL::Size(256, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  if (commands->status() == MTL::CommandBufferStatusError)
    return fail("the launch", commands->error());
  std::printf("the last of %d values is %g\n", kCount, values[kCount - 1]);
}
