// Defaults of primitives, and the rules common to all elementwise ones.
#include "mlx/primitives/primitive.h"

#include <ostream>
#include <stdexcept>
#include <string>
#include <typeinfo>

#include "mlx/ops.h"
#include "mlx/primitives/elementwise.h"
#include "mlx/primitives/rules.h"

namespace mlx::core {

namespace {

[[noreturn]] void no_rule(const Primitive& p, const char* rule) {
  throw std::invalid_argument("[Primitive::" + std::string(rule) + "] " + p.name() + " has no " +
                              rule + " rule.");
}

}  // namespace

std::vector<array> Primitive::jvp(const std::vector<array>&, const std::vector<array>&,
                                  const std::vector<int>&) {
  no_rule(*this, "jvp");
}

std::vector<array> Primitive::vjp(const std::vector<array>&, const std::vector<array>&,
                                  const std::vector<int>&, const std::vector<array>&) {
  no_rule(*this, "vjp");
}

std::optional<array> Primitive::accumulate_vjp(const array&, const std::vector<array>&,
                                               const array&) {
  return {};
}

std::pair<std::vector<array>, std::vector<int>> Primitive::vmap(const std::vector<array>&,
                                                                const std::vector<int>&) {
  no_rule(*this, "vmap");
}

const char* Primitive::name() const { return typeid(*this).name(); }

void Primitive::print(std::ostream& os) { os << name(); }

bool Primitive::is_equivalent(const Primitive&) const { return false; }

std::vector<Shape> Primitive::output_shapes(const std::vector<array>&) {
  no_rule(*this, "output_shapes");
}

// ---- elementwise ----

std::vector<Shape> Elementwise::output_shapes(const std::vector<array>& inputs) {
  Shape shape;
  for (const auto& in : inputs) {
    shape = broadcast_shapes(shape, in.shape());
  }
  return {shape};
}

std::vector<array> Elementwise::jvp(const std::vector<array>& primals,
                                    const std::vector<array>& tangents,
                                    const std::vector<int>& argnums) {
  array out = apply(primals);  // lazy: not computed unless a rule uses it
  std::optional<array> tangent;
  for (size_t i = 0; i < argnums.size(); ++i) {
    accumulate(tangent, partial(argnums[i], primals, out, tangents[i]), stream());
  }
  return {*tangent};
}

std::vector<array> Elementwise::vjp(const std::vector<array>& primals,
                                    const std::vector<array>& cotangents,
                                    const std::vector<int>& argnums,
                                    const std::vector<array>& outputs) {
  std::vector<array> conjugates;
  for (const auto& p : primals) {
    conjugates.push_back(conjugate(p, stream()));
  }
  array out = conjugate(outputs[0], stream());
  std::vector<array> vjps;
  for (int arg : argnums) {
    array cotangent = partial(arg, conjugates, out, cotangents[0]);
    // If a real input gives a complex output (astype), its cotangent is real.
    vjps.push_back(astype(cotangent, primals[arg].dtype(), stream()));
  }
  return vjps;
}

VmapResult Elementwise::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  int to = *std::max_element(axes.begin(), axes.end());
  std::vector<array> aligned;
  for (size_t i = 0; i < inputs.size(); ++i) {
    aligned.push_back(axes[i] < 0     ? expand_dims(inputs[i], to, stream())
                      : axes[i] == to ? inputs[i]
                                      : moveaxis(inputs[i], axes[i], to, stream()));
  }
  return {{apply(aligned)}, {to}};
}

}  // namespace mlx::core
