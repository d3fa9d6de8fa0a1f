// Compares what an exported function takes with inputs.
#include "mlx/export/signature.h"

#include <map>

#include "mlx/errors.h"

namespace mlx::core::exported {

namespace {

bool fits(const array& given, const array& wanted, bool shapeless) {
  return given.dtype() == wanted.dtype() &&
         (shapeless ? given.ndim() == wanted.ndim() : given.shape() == wanted.shape());
}

}  // namespace

std::optional<std::vector<array>> Signature::in_order(const Args& args,
                                                      const Kwargs& kwargs) const {
  if (args.size() + kwargs.size() != inputs.size()) return std::nullopt;
  std::map<std::string, array> others(kwargs.begin(), kwargs.end());
  std::vector<array> named;
  for (const auto& keyword : keywords) {
    auto entry = others.extract(keyword);
    if (entry.empty()) return std::nullopt;
    named.push_back(entry.mapped());
  }
  std::vector<array> ordered = args;
  for (const auto& [keyword, value] : others) ordered.push_back(value);
  ordered.insert(ordered.end(), named.begin(), named.end());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!fits(ordered[i], inputs[i], shapeless)) return std::nullopt;
  }
  return ordered;
}

std::string Signature::text() const {
  std::string out = "(";
  const size_t num_positional = inputs.size() - keywords.size();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i > 0) out += ", ";
    if (i >= num_positional) out += keywords[i - num_positional] + ": ";
    out += message(inputs[i].dtype(), " ");
    out +=
        shapeless ? message("with ", inputs[i].ndim(), " dimensions") : message(inputs[i].shape());
  }
  return out + ")";
}

Signature signature_of(const Args& args, const Kwargs& kwargs, bool shapeless) {
  Signature made{args, {}, shapeless};
  for (const auto& [keyword, value] : std::map<std::string, array>(kwargs.begin(), kwargs.end())) {
    made.inputs.push_back(value);
    made.keywords.push_back(keyword);
  }
  return made;
}

}  // namespace mlx::core::exported
