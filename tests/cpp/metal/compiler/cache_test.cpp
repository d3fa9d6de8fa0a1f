// The cache of compiled kernels on disk.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "metal/compiler/compiler.h"
#include "metal/programs/disk_cache.h"

namespace metal::compiler {
namespace {

namespace fs = std::filesystem;

class Cache : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* value = std::getenv("MLX_CACHE_DIR")) before_ = value;
    folder_ = fs::temp_directory_path() / ("mlx_cache_test_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    setenv("MLX_CACHE_DIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    fs::remove_all(folder_);
    before_ ? setenv("MLX_CACHE_DIR", before_->c_str(), 1) : unsetenv("MLX_CACHE_DIR");
    unsetenv("MLX_CACHE_LIMIT_MB");
  }

  uintmax_t size() const {
    uintmax_t total = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) total += entry.file_size();
    return total;
  }

  fs::path folder_;
  std::optional<std::string> before_;
};

TEST_F(Cache, FindsWhatWasStored) {
  const std::string key = cache_key({"a", "b"});
  EXPECT_FALSE(cache_load(key));
  cache_store(key, "bytes");
  EXPECT_EQ(cache_load(key), "bytes");
  EXPECT_NE(cache_key({"a", "b"}), cache_key({"ab", ""}));
}

TEST_F(Cache, RemovesDamagedEntries) {
  const std::string key = cache_key({"damaged"});
  cache_store(key, std::string(1000, 'x'));
  for (const char* mode : {"short", "changed"}) {
    cache_store(key, std::string(1000, 'x'));
    if (std::string(mode) == "short") {
      fs::resize_file(folder_ / key, 500);
    } else {
      std::fstream file(folder_ / key, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(300);
      file.put('y');
    }
    EXPECT_FALSE(cache_load(key)) << mode;
    EXPECT_FALSE(fs::exists(folder_ / key)) << mode;
  }
}

// One key in 256 is followed by a sweep.
TEST_F(Cache, StaysNearItsLimit) {
  setenv("MLX_CACHE_LIMIT_MB", "1", 1);
  int sweeps = 0;
  for (int i = 0; i < 40 || !sweeps; ++i) {
    const std::string key = cache_key({std::to_string(i)});
    const bool sweeping = key.starts_with("00");
    if (i >= 40 && !sweeping) continue;
    cache_store(key, std::string(100000, 'x'));
    if (sweeping) EXPECT_LT(size(), 1u << 20);
    sweeps += sweeping;
  }
}

// Each entry takes an eighth of the limit, with the 16 bytes of its checksum.
TEST_F(Cache, SweepsTheLeastRecentlyUsedDownToThreeQuarters) {
  setenv("MLX_CACHE_LIMIT_MB", "1", 1);
  const std::string bytes((1u << 17) - 16, 'x');
  const auto names = [&] {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_))
      found.insert(entry.path().filename().string());
    return found;
  };
  const auto now = fs::file_time_type::clock::now();
  std::set<std::string> all;
  for (int i = 0; i < 8; ++i) {  // the higher the number, the older
    const std::string key = "ff" + std::to_string(i);
    cache_store(key, bytes);
    fs::last_write_time(folder_ / key, now - std::chrono::hours(1 + i));
    all.insert(key);
  }
  EXPECT_EQ(size(), 1u << 20);
  EXPECT_EQ(names(), all);
  EXPECT_TRUE(cache_load("ff7"));  // which is a use

  // Only keys that start with two zeros sweep, and only if the limit is exceeded.
  fs::remove(folder_ / "ff0");
  cache_store("000", bytes);
  EXPECT_EQ(names(),
            (std::set<std::string>{"000", "ff1", "ff2", "ff3", "ff4", "ff5", "ff6", "ff7"}));
  cache_store("0f0", "");
  EXPECT_EQ(names().size(), 9u);
  fs::remove(folder_ / "0f0");

  cache_store("001", bytes);
  EXPECT_EQ(size(), 3u << 18);
  EXPECT_EQ(names(), (std::set<std::string>{"000", "001", "ff1", "ff2", "ff3", "ff7"}));
}

TEST_F(Cache, IsOffWithoutAFolder) {
  setenv("MLX_CACHE_DIR", "", 1);
  cache_store(cache_key({"x"}), "bytes");
  EXPECT_FALSE(cache_load(cache_key({"x"})));
}

TEST_F(Cache, ProgramsComeBackFromDisk) {
  const char* source = "kernel void cached(device int* x) { x[0] = 41; }";
  const auto first = compile(source);
  const auto second = compile(source);
  EXPECT_EQ(first->functions[0].bitcode, second->functions[0].bitcode);
  EXPECT_FALSE(fs::is_empty(folder_));
  for (const auto& entry : fs::directory_iterator(folder_)) fs::resize_file(entry.path(), 30);
  EXPECT_EQ(compile(source)->functions[0].name, "cached");
}

// Files that a program has included may have changed, and files that it has not found may exist
// now.
TEST_F(Cache, IncludedFilesMayChange) {
  const fs::path headers = folder_ / "headers";
  fs::create_directories(headers);
  CompileOptions options;
  options.include_directories = {headers};
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(headers / name) << text;
  };
  const auto bitcode = [&](const std::string& start) {
    return compile(start + "kernel void k(device int* x) { x[0] = VALUE; }", options)
        ->functions[0]
        .bitcode;
  };
  write("outer.h", "#include \"inner.h\"\n");
  for (const char* include : {"#include \"inner.h\"\n", "#include \"outer.h\"\n"}) {
    write("inner.h", "#define VALUE 1\n");
    const std::string first = bitcode(include);
    EXPECT_EQ(bitcode(include), first);
    write("inner.h", "#define VALUE 2\n");
    const std::string second = bitcode(include);
    EXPECT_NE(second, first);
    EXPECT_EQ(bitcode(include), second);
    // An entry of the same length and age as the one before.
    const auto time = fs::last_write_time(headers / "inner.h");
    write("inner.h", "#define VALUE 3\n");
    fs::last_write_time(headers / "inner.h", time);
    EXPECT_NE(bitcode(include), second);
  }
  const std::string optional =
      "#if __has_include(\"maybe.h\")\n#include \"maybe.h\"\n#else\n#define VALUE 4\n#endif\n";
  const std::string without = bitcode(optional);
  write("maybe.h", "#define VALUE 5\n");
  EXPECT_NE(bitcode(optional), without);
  fs::remove(headers / "maybe.h");
  EXPECT_EQ(bitcode(optional), without);
}

TEST_F(Cache, ThreadsCompileTogether) {
  std::vector<std::thread> threads;
  std::atomic<int> found{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 4; ++k) {
        const std::string name = "shared_" + std::to_string(k);
        const auto program = compile("kernel void " + name + "(device int* x) { x[0] = 1; }");
        found += program->find(name) != nullptr;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, 32);
}

}  // namespace
}  // namespace metal::compiler
