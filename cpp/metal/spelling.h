// Finds the name that was probably meant by a misspelt one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metal/api.h"

namespace metal {

// The name with the smallest edit distance; nothing if more than one character in four differs.
METAL_API std::optional<std::string> nearest_name(std::string_view name,
                                                  const std::vector<std::string>& names);

// "a, b and 7 more": at most `most` of the names, the ones closest to `name` first.
std::string nearest_first(std::string_view name, std::vector<std::string> names, size_t most);

}  // namespace metal
