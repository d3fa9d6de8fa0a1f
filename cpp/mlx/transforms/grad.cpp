// Derivatives: products of vectors with a function's Jacobian, and gradients.
#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "mlx/errors.h"
#include "mlx/ops.h"
#include "mlx/primitives/compiled.h"
#include "mlx/primitives/graph.h"
#include "mlx/transforms.h"
#include "mlx/transforms/graph_walk.h"
#include "mlx/transforms_impl.h"

namespace mlx::core {

namespace {

using Function = std::function<std::vector<array>(const std::vector<array>&)>;

Stream stream_of(const array& a) { return a.pending_stream().value_or(to_stream({})); }

// Copies of the arguments, which differ from the arrays that the function captures.
std::vector<array> traced(const std::vector<array>& primals) {
  std::vector<array> out;
  for (const auto& p : primals) {
    array tracer = copy(p, stream_of(p));
    tracer.set_tracer(true);
    out.push_back(tracer);
  }
  return out;
}

// The nodes between the given arguments and the outputs, inputs first.
struct Tape {
  struct Node {
    array a;
    std::vector<array> outputs;
    std::vector<int> argnums;  // the inputs that depend on the arguments
  };
  std::vector<Node> nodes;

  Tape(const std::vector<array>& arguments, const std::vector<int>& argnums,
       const std::vector<array>& outputs) {
    std::unordered_set<std::uintptr_t> argument_ids;
    for (const auto& a : arguments) {
      argument_ids.insert(a.id());
    }
    auto inside = [&](const array& a) {
      return a.is_tracer() && a.has_primitive() && argument_ids.count(a.id()) == 0;
    };
    std::unordered_set<std::uintptr_t> active;
    for (int i : argnums) {
      active.insert(arguments[i].id());
    }
    for (auto& a : topological_order(outputs, inside, true)) {
      if (dynamic_cast<const StopGradient*>(&a.primitive())) {
        continue;
      }
      std::vector<int> followed;
      for (size_t i = 0; i < num_followed_inputs(a); ++i) {
        if (active.count(a.inputs()[i].id())) {
          followed.push_back(static_cast<int>(i));
        }
      }
      if (followed.empty()) {
        continue;
      }
      auto outs = a.outputs();
      for (const auto& out : outs) {
        active.insert(out.id());
      }
      nodes.push_back({std::move(a), std::move(outs), std::move(followed)});
    }
  }
};

void check_vector(const array& value, const array& vector, const char* op, const char* what) {
  if (value.shape() != vector.shape()) {
    invalid_argument(op, message("The ", what, " of shape ", vector.shape(),
                                 " must have the shape ", value.shape(), "."));
  }
}

// Sums of cotangents (or the tangents) by array.
class Vectors {
 public:
  void add(const array& a, const array& vector, const Stream& s) {
    auto [it, is_new] = by_id_.try_emplace(a.id(), vector);
    if (!is_new) {
      it->second = mlx::core::add(it->second, vector, s);
    }
  }

  const array* find(const array& a) const {
    auto it = by_id_.find(a.id());
    return it == by_id_.end() ? nullptr : &it->second;
  }

  void replace(const array& a, const array& vector) { by_id_.insert_or_assign(a.id(), vector); }

  void forget(const array& a) { by_id_.erase(a.id()); }

 private:
  std::unordered_map<std::uintptr_t, array> by_id_;
};

// Cotangents or tangents by position. One that is not there stands for zeros that nothing is
// computed from: times an infinite derivative, they would be NaN.
using Optionals = std::vector<std::optional<array>>;

struct Derivatives {
  std::vector<array> outputs;
  Optionals vectors;
};

Derivatives pulled_back(const Function& fun, const std::vector<array>& primals,
                        const Optionals& cotangents, const std::vector<int>& argnums);
Derivatives pushed_forward(const Function& fun, const std::vector<array>& primals,
                           const std::vector<array>& tangents, const std::vector<int>& argnums);

// What a fused operation computes, as operations that have derivatives of their own.
Function body_of(const Fused& fused) {
  return [&fused](const std::vector<array>& inputs) { return replay(fused.body(), inputs); };
}

Optionals cotangents_of_inputs(const Tape::Node& node, const Optionals& cotangents) {
  auto& primitive = node.a.primitive();
  if (auto* fused = dynamic_cast<const Fused*>(&primitive)) {
    return pulled_back(body_of(*fused), node.a.inputs(), cotangents, node.argnums).vectors;
  }
  std::vector<array> all;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    all.push_back(cotangents[i] ? *cotangents[i] : zeros_like(node.outputs[i], primitive.stream()));
  }
  auto vjps = primitive.vjp(node.a.inputs(), all, node.argnums, node.outputs);
  return {vjps.begin(), vjps.end()};
}

// Whether the operation added the cotangent of its only followed input to the sum that is known.
bool accumulates(const Tape::Node& node, const Optionals& cotangents, Vectors& vectors) {
  if (node.argnums != std::vector{0} || node.outputs.size() != 1) return false;
  const array& input = node.a.inputs()[0];
  const array* sum = vectors.find(input);
  if (!sum) return false;
  auto accumulated = node.a.primitive().accumulate_vjp(*sum, node.a.inputs(), *cotangents[0]);
  if (accumulated) vectors.replace(input, *accumulated);
  return accumulated.has_value();
}

void pull_back(const Tape::Node& node, Vectors& vectors) {
  Optionals cotangents;
  bool reached = false;
  for (const auto& out : node.outputs) {
    auto* known = vectors.find(out);
    reached = reached || known;
    cotangents.push_back(known ? std::optional(*known) : std::nullopt);
    vectors.forget(out);
  }
  if (!reached || accumulates(node, cotangents, vectors)) {
    return;
  }
  const Optionals vjps = cotangents_of_inputs(node, cotangents);
  for (size_t i = 0; i < node.argnums.size(); ++i) {
    if (auto& cotangent = vjps.at(i)) {
      vectors.add(node.a.inputs()[node.argnums[i]], *cotangent, node.a.primitive().stream());
    }
  }
}

Derivatives pulled_back(const Function& fun, const std::vector<array>& primals,
                        const Optionals& cotangents, const std::vector<int>& argnums) {
  detail::InTracing in_tracing{false, true};
  auto arguments = traced(primals);
  auto outputs = fun(arguments);
  Vectors vectors;
  for (size_t i = 0; i < std::min(cotangents.size(), outputs.size()); ++i) {
    if (!cotangents[i]) {
      continue;
    }
    check_vector(outputs[i], *cotangents[i], "vjp", "cotangent");
    vectors.add(outputs[i], astype(*cotangents[i], outputs[i].dtype(), stream_of(outputs[i])),
                stream_of(outputs[i]));
  }
  Tape tape(arguments, argnums, outputs);
  for (auto node = tape.nodes.rbegin(); node != tape.nodes.rend(); ++node) {
    pull_back(*node, vectors);
  }
  Optionals vjps;
  for (int i : argnums) {
    auto* known = vectors.find(arguments[i]);
    vjps.push_back(known ? std::optional(*known) : std::nullopt);
  }
  return {outputs, vjps};
}

Optionals tangents_of_outputs(const Tape::Node& node, const std::vector<array>& tangents,
                              const std::vector<int>& argnums) {
  auto& primitive = node.a.primitive();
  if (auto* fused = dynamic_cast<const Fused*>(&primitive)) {
    return pushed_forward(body_of(*fused), node.a.inputs(), tangents, argnums).vectors;
  }
  auto jvps = primitive.jvp(node.a.inputs(), tangents, argnums);
  return {jvps.begin(), jvps.end()};
}

void push_forward(const Tape::Node& node, Vectors& vectors) {
  std::vector<array> tangents;
  std::vector<int> argnums;
  for (int arg : node.argnums) {
    if (auto* known = vectors.find(node.a.inputs()[arg])) {
      tangents.push_back(*known);
      argnums.push_back(arg);
    }
  }
  if (argnums.empty()) {
    return;
  }
  const Optionals jvps = tangents_of_outputs(node, tangents, argnums);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (auto& tangent = jvps.at(i)) {
      vectors.add(node.outputs[i], *tangent, node.a.primitive().stream());
    }
  }
}

// The tangents are those of the arguments with the numbers.
Derivatives pushed_forward(const Function& fun, const std::vector<array>& primals,
                           const std::vector<array>& tangents, const std::vector<int>& argnums) {
  detail::InTracing in_tracing{false, true};
  auto arguments = traced(primals);
  auto outputs = fun(arguments);
  Vectors vectors;
  for (size_t i = 0; i < argnums.size(); ++i) {
    const array& argument = arguments[argnums[i]];
    const Stream s = stream_of(argument);
    vectors.add(argument, astype(tangents[i], argument.dtype(), s), s);
  }
  Tape tape(arguments, argnums, outputs);
  for (const auto& node : tape.nodes) {
    push_forward(node, vectors);
  }
  Optionals jvps;
  for (const auto& out : outputs) {
    auto* known = vectors.find(out);
    jvps.push_back(known ? std::optional(*known) : std::nullopt);
  }
  return {outputs, jvps};
}

std::vector<int> all_numbers(size_t count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

std::pair<std::vector<array>, std::vector<array>> detail::vjp(const Function& fun,
                                                              const std::vector<array>& primals,
                                                              const std::vector<array>& cotangents,
                                                              const std::vector<int>& argnums) {
  auto [outputs, known] =
      pulled_back(fun, primals, {cotangents.begin(), cotangents.end()}, argnums);
  std::vector<array> vjps;
  for (size_t i = 0; i < argnums.size(); ++i) {
    const array& primal = primals[argnums[i]];
    vjps.push_back(known[i] ? *known[i] : zeros_like(primal, stream_of(primal)));
  }
  return {outputs, vjps};
}

std::pair<std::vector<array>, std::vector<array>> vjp(const Function& fun,
                                                      const std::vector<array>& primals,
                                                      const std::vector<array>& cotangents) {
  auto checked = [&](const std::vector<array>& inputs) {
    auto outputs = fun(inputs);
    if (outputs.size() > cotangents.size()) {
      invalid_argument("vjp", message("Got ", cotangents.size(), " cotangents for ", outputs.size(),
                                      " outputs."));
    }
    return outputs;
  };
  return detail::vjp(checked, primals, cotangents, all_numbers(primals.size()));
}

std::pair<array, array> vjp(const std::function<array(const array&)>& fun, const array& primal,
                            const array& cotangent) {
  auto vector_fun = [&](const std::vector<array>& inputs) {
    return std::vector<array>{fun(inputs[0])};
  };
  auto [outputs, vjps] = vjp(vector_fun, {primal}, {cotangent});
  return {outputs[0], vjps[0]};
}

std::pair<std::vector<array>, std::vector<array>> jvp(const Function& fun,
                                                      const std::vector<array>& primals,
                                                      const std::vector<array>& tangents) {
  if (primals.size() != tangents.size()) {
    invalid_argument(
        "jvp", message("Got ", tangents.size(), " tangents for ", primals.size(), " primals."));
  }
  for (size_t i = 0; i < primals.size(); ++i) {
    check_vector(primals[i], tangents[i], "jvp", "tangent");
  }
  auto [outputs, known] = pushed_forward(fun, primals, tangents, all_numbers(primals.size()));
  std::vector<array> jvps;
  for (size_t i = 0; i < outputs.size(); ++i) {
    jvps.push_back(known[i] ? *known[i] : zeros_like(outputs[i], stream_of(outputs[i])));
  }
  return {outputs, jvps};
}

std::pair<array, array> jvp(const std::function<array(const array&)>& fun, const array& primal,
                            const array& tangent) {
  auto vector_fun = [&](const std::vector<array>& inputs) {
    return std::vector<array>{fun(inputs[0])};
  };
  auto [outputs, jvps] = jvp(vector_fun, {primal}, {tangent});
  return {outputs[0], jvps[0]};
}

// ---- gradients ----

namespace {

std::vector<int> checked_argnums(std::vector<int> argnums, size_t count) {
  if (argnums.empty()) {
    invalid_argument("grad", "At least one argument must be given.");
  }
  for (int& arg : argnums) {
    if (arg < -static_cast<int>(count) || arg >= static_cast<int>(count)) {
      invalid_argument("grad", message("There is no argument ", arg, " among ", count, "."));
    }
    arg = arg < 0 ? arg + static_cast<int>(count) : arg;
  }
  std::vector<int> sorted = argnums;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    invalid_argument("grad", "The same argument is given more than once.");
  }
  return argnums;
}

}  // namespace

ValueAndGradFn value_and_grad(const Function& fun, const std::vector<int>& argnums) {
  return [fun, argnums](const std::vector<array>& inputs) {
    auto checked = [&fun](const std::vector<array>& arguments) {
      auto outputs = fun(arguments);
      if (outputs.empty() || outputs[0].ndim() != 0) {
        invalid_argument("grad", "The function must return a scalar" +
                                     (outputs.empty() ? std::string(".")
                                                      : message(", not an array of shape ",
                                                                outputs[0].shape(), ".")));
      }
      return outputs;
    };
    return detail::vjp(checked, inputs, {array(1.0f)}, checked_argnums(argnums, inputs.size()));
  };
}

SimpleValueAndGradFn value_and_grad(const std::function<array(const std::vector<array>&)>& fun,
                                    const std::vector<int>& argnums) {
  auto vector_fun = [fun](const std::vector<array>& inputs) {
    return std::vector<array>{fun(inputs)};
  };
  return [inner = value_and_grad(Function(vector_fun), argnums)](const std::vector<array>& inputs) {
    auto [outputs, grads] = inner(inputs);
    return std::pair<array, std::vector<array>>{outputs[0], grads};
  };
}

std::function<std::pair<array, array>(const array&)> value_and_grad(
    const std::function<array(const array&)>& fun) {
  auto vector_fun = [fun](const std::vector<array>& inputs) {
    return std::vector<array>{fun(inputs[0])};
  };
  return [inner = value_and_grad(Function(vector_fun), std::vector<int>{0})](const array& input) {
    auto [outputs, grads] = inner({input});
    return std::pair<array, array>{outputs[0], grads[0]};
  };
}

Function grad(const std::function<array(const std::vector<array>&)>& fun,
              const std::vector<int>& argnums) {
  return [inner = value_and_grad(fun, argnums)](const std::vector<array>& inputs) {
    return inner(inputs).second;
  };
}

std::function<array(const array&)> grad(const std::function<array(const array&)>& fun) {
  return [inner = value_and_grad(fun)](const array& input) { return inner(input).second; };
}

}  // namespace mlx::core
