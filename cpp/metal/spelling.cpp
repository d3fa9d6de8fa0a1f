#include "metal/spelling.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace metal {
namespace {

// Levenshtein distance: the number of single characters to insert, delete or replace.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name,
                                        const std::vector<std::string>& names) {
  auto distance = [&](const std::string& other) { return edit_distance(name, other); };
  auto best = std::ranges::min_element(names, {}, distance);
  if (best == names.end() || distance(*best) * 4 > name.size()) return std::nullopt;
  return *best;
}

std::string nearest_first(std::string_view name, std::vector<std::string> names, size_t most) {
  std::vector<std::pair<size_t, std::string>> order;
  for (std::string& other : names) {
    const size_t distance = edit_distance(name, other);
    order.emplace_back(distance, std::move(other));
  }
  std::ranges::sort(order);
  const size_t shown = std::min(most, order.size());
  const size_t rest = order.size() - shown;
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    const bool is_last = i + 1 == order.size();
    text += (i == 0 ? "" : is_last ? " and " : ", ") + order[i].second;
  }
  return rest ? text + " and " + std::to_string(rest) + " more" : text;
}

}  // namespace metal
