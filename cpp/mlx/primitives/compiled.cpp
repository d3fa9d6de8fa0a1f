// Transformations of fused operations: they apply to the operations of the group.
#include "mlx/primitives/compiled.h"

#include "mlx/backend/metal/compiled_kernels.h"
#include "mlx/backend/metal/compiled_reduce_kernels.h"
#include "mlx/ops.h"
#include "mlx/primitives/rules.h"
#include "mlx/transforms_impl.h"

namespace mlx::core {

namespace {

std::string joined_names(const Trace& body) {
  std::string name = "Compiled";
  for (const auto& node : body.nodes) name += node.primitive->name();
  return name;
}

ArraysFunction function_of(const Trace& body) {
  return [&body](const std::vector<array>& inputs) { return replay(body, inputs); };
}

// The operations before the last one.
Trace without_last(const Trace& body) {
  Trace rest = body;
  rest.outputs = rest.nodes.back().inputs;
  rest.nodes.pop_back();
  return rest;
}

}  // namespace

Fused::Fused(Stream stream, Trace body)
    : Primitive(stream), body_(std::move(body)), name_(joined_names(body_)) {}

VmapResult Fused::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return vmap_as(function_of(body_), inputs, axes);
}

std::vector<Shape> Fused::output_shapes(const std::vector<array>& inputs) {
  std::vector<Shape> shapes;
  for (const auto& out : replay(body_, inputs)) shapes.push_back(out.shape());
  return shapes;
}

Compiled::Compiled(Stream stream, Trace operations)
    : Fused(stream, std::move(operations)),
      kernels_(std::make_unique<CompiledKernels>(body(), name())) {}

Compiled::~Compiled() = default;

bool Compiled::is_equivalent(const Primitive& other) const {
  return kernels_->is_same_as(*static_cast<const Compiled&>(other).kernels_);
}

CompiledReduce::CompiledReduce(Stream stream, Trace operations)
    : Fused(stream, std::move(operations)),
      reduce_(std::dynamic_pointer_cast<Reduce>(body().nodes.back().primitive)),
      chain_(stream, without_last(body())),
      kernels_(std::make_unique<CompiledReduceKernels>(chain_.body(), name())) {}

CompiledReduce::~CompiledReduce() = default;

bool CompiledReduce::is_equivalent(const Primitive& other) const {
  const auto& same = static_cast<const CompiledReduce&>(other);
  return chain_.is_equivalent(same.chain_) && reduce_->is_equivalent(*same.reduce_);
}

}  // namespace mlx::core
