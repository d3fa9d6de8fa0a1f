// The cache of compiled code on disk, which processes share. An entry is a file whose name is the
// hash of everything that the code depends on.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace metal::compiler {

// The name of the entry for these parts. Their order matters.
std::string cache_key(std::initializer_list<std::string_view> parts);

// Nothing if there is no such entry, or if it is damaged; then it is removed.
std::optional<std::string> cache_load(const std::string& key);

// Failures are ignored: without the entry, another process compiles again. Readers see complete
// entries only. The oldest entries are removed if the cache exceeds its limit.
void cache_store(const std::string& key, std::string_view bytes);

// MLX_CACHE_DIR, or mlx-anywhere in the user's cache folder. Empty if MLX_CACHE_DIR is empty, which
// turns the cache off.
std::string cache_directory();

}  // namespace metal::compiler
