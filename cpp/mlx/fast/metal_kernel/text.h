// Texts of messages about kernels.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace mlx::core::fast {

inline std::string in_quotes(std::string_view name) { return "\"" + std::string(name) + "\""; }

// The number of the line of `text` that `part` begins in; it must lie in `text`.
inline size_t line_of(std::string_view text, std::string_view part) {
  const auto before = text.substr(0, static_cast<size_t>(part.data() - text.data()));
  return 1 + static_cast<size_t>(std::ranges::count(before, '\n'));
}

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
