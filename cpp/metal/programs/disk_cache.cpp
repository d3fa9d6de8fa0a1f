#include "metal/programs/disk_cache.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "metal/programs/hash.h"

namespace metal::compiler {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kDefaultLimit = 512u << 20;  // bytes
constexpr char kSweepDigits[] = "00";            // storing a key that starts so starts a sweep
constexpr size_t kDigestSize = 16;

std::string digest(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return std::string(reinterpret_cast<const char*>(&hash), sizeof(hash));
}

uintmax_t size_limit() {
  const char* text = std::getenv("MLX_CACHE_LIMIT_MB");
  const long megabytes = text ? std::atol(text) : 0;
  return megabytes > 0 ? static_cast<uintmax_t>(megabytes) << 20 : kDefaultLimit;
}

fs::path entry_path(const std::string& key) { return fs::path(cache_directory()) / key; }

// A sweep reads every entry, and there may be very many. So only one store in 256 starts one.
bool is_time_to_sweep(const std::string& key) { return key.starts_with(kSweepDigits); }

// Removes the least recently used entries until three quarters of the limit are left.
void sweep() {
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    uintmax_t size;
  };
  std::vector<Entry> entries;
  uintmax_t total = 0;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(cache_directory(), error)) {
    const uintmax_t size = file.file_size(error);
    if (error) continue;
    entries.push_back({file.path(), file.last_write_time(error), size});
    total += size;
  }
  const uintmax_t limit = size_limit();
  if (total <= limit) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= limit / 4 * 3) break;
    if (fs::remove(entry.path, error)) total -= entry.size;
  }
}

}  // namespace

std::string cache_key(std::initializer_list<std::string_view> parts) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  for (std::string_view part : parts) {
    const uint64_t size = part.size();
    XXH3_128bits_update(&state, &size, sizeof(size));
    XXH3_128bits_update(&state, part.data(), part.size());
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(&state);
  char digits[2 * kDigestSize + 1];
  std::snprintf(digits, sizeof(digits), "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
  return digits;
}

std::string cache_directory() {
  if (const char* given = std::getenv("MLX_CACHE_DIR")) return given;
  if (const char* user = std::getenv("XDG_CACHE_HOME"); user && *user)
    return std::string(user) + "/mlx-anywhere";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::string(home) + "/.cache/mlx-anywhere";
  return {};
}

std::optional<std::string> cache_load(const std::string& key) {
  if (cache_directory().empty()) return std::nullopt;
  const fs::path path = entry_path(key);
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::error_code error;
  if (bytes.size() < kDigestSize ||
      digest(std::string_view(bytes).substr(kDigestSize)) != bytes.substr(0, kDigestSize)) {
    fs::remove(path, error);
    return std::nullopt;
  }
  fs::last_write_time(path, fs::file_time_type::clock::now(), error);
  return bytes.substr(kDigestSize);
}

void cache_store(const std::string& key, std::string_view bytes) {
  static std::atomic<int> stores{0};
  if (cache_directory().empty()) return;
  std::error_code error;
  fs::create_directories(cache_directory(), error);
  const fs::path path = entry_path(key);
  const fs::path temporary =
      path.string() + "." + std::to_string(getpid()) + "." + std::to_string(stores++);
  {
    std::ofstream file(temporary, std::ios::binary);
    file << digest(bytes) << bytes;
    if (!file.flush()) {
      fs::remove(temporary, error);
      return;
    }
  }
  fs::rename(temporary, path, error);
  if (error) fs::remove(temporary, error);
  if (is_time_to_sweep(key)) sweep();
}

}  // namespace metal::compiler
