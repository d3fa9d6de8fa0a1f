// Transformations of Compiled: they apply to the operations that it consists of.
#include "mlx/primitives/compiled.h"

#include "mlx/backend/metal/compiled_kernels.h"
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

}  // namespace

Compiled::Compiled(Stream stream, Trace body)
    : Primitive(stream),
      body_(std::move(body)),
      name_(joined_names(body_)),
      kernels_(std::make_unique<CompiledKernels>(body_, name_)) {}

Compiled::~Compiled() = default;

std::vector<array> Compiled::jvp(const std::vector<array>& primals,
                                 const std::vector<array>& tangents,
                                 const std::vector<int>& argnums) {
  return jvp_as(function_of(body_), primals, tangents, argnums);
}

std::vector<array> Compiled::vjp(const std::vector<array>& primals,
                                 const std::vector<array>& cotangents,
                                 const std::vector<int>& argnums, const std::vector<array>&) {
  return detail::vjp(function_of(body_), primals, cotangents, argnums).second;
}

VmapResult Compiled::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return vmap_as(function_of(body_), inputs, axes);
}

bool Compiled::is_equivalent(const Primitive& other) const {
  return kernels_->is_same_as(*static_cast<const Compiled&>(other).kernels_);
}

std::vector<Shape> Compiled::output_shapes(const std::vector<array>& inputs) {
  std::vector<Shape> shapes;
  for (const auto& out : replay(body_, inputs)) shapes.push_back(out.shape());
  return shapes;
}

}  // namespace mlx::core
