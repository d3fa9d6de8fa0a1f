// Lists of names in messages about kernels.
#pragma once

#include <string>
#include <string_view>

namespace mlx::core::fast {

inline std::string in_quotes(std::string_view name) { return "\"" + std::string(name) + "\""; }

// Joins `name(item)` of all items by commas.
template <typename Items, typename Name>
std::string joined(const Items& items, Name name) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += ", ";
    text += name(item);
  }
  return text;
}

template <typename Names>
std::string joined(const Names& names) {
  return joined(names, [](const auto& name) { return name; });
}

}  // namespace mlx::core::fast
