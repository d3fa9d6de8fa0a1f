// The cache of compiled code on disk, which processes share. An entry is a file; its name is the
// hash of everything that the code depends on.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace metal::compiler {

// A file name for these parts, in this order.
std::string cache_key(std::initializer_list<std::string_view> parts);

// Nothing if there is no such entry, or if it is damaged (then it is removed).
std::optional<std::string> cache_load(const std::string& key);

// Best effort: a full disk or a folder without permission only costs the next process a
// compilation. Readers see whole entries only. The oldest entries go when all together exceed the
// limit.
void cache_store(const std::string& key, std::string_view bytes);

// MLX_CACHE_DIR, or mlx-anywhere in the user's cache folder. Empty if caching is off (MLX_CACHE_DIR
// is set to nothing).
std::string cache_directory();

}  // namespace metal::compiler
