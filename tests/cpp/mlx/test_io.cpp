// Files of arrays through the C++ interface: custom readers and writers, and lazy loading.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "mlx/check.h"
#include "mlx/io.h"
#include "mlx/ops.h"
#include "mlx/transforms.h"

namespace mlx::core::test {
namespace {

// Bytes in memory. It counts the calls that read them.
class Memory : public io::Reader, public io::Writer {
 public:
  explicit Memory(bool lazy) : lazy_(lazy) {}

  const std::string& label() const override { return label_; }
  uint64_t size() const override { return bytes.size(); }
  bool reads_later() const override { return lazy_; }
  uint64_t tell() override { return place_; }
  void seek(uint64_t position) override { place_ = position; }

  void read(void* to, size_t count, uint64_t offset) override {
    ++reads;
    if (offset + count > bytes.size()) throw std::runtime_error("beyond the end");
    std::memcpy(to, bytes.data() + offset, count);
  }

  void write(const void* from, size_t count) override {
    if (bytes.size() < place_ + count) bytes.resize(place_ + count);
    std::memcpy(bytes.data() + place_, from, count);
    place_ += count;
  }

  std::string bytes;
  int reads = 0;

 private:
  std::string label_ = "memory";
  bool lazy_;
  size_t place_ = 0;
};

bool equals(const array& a, const array& b) { return array_equal(a, b).item<bool>(); }

TEST(Io, ArraysAreReadOnceWhenTheyAreEvaluated) {
  for (bool lazy : {true, false}) {
    auto file = std::make_shared<Memory>(lazy);
    const array x = reshape(arange(0, 12, 1), {3, 4});
    save(file, transpose(x));
    array loaded = load(file);
    const int before = file->reads;
    EXPECT_EQ(loaded.status() == array::Status::unscheduled, lazy);
    EXPECT_TRUE(equals(loaded, transpose(x)));
    EXPECT_TRUE(equals(loaded + loaded, transpose(x) * array(2)));
    EXPECT_EQ(file->reads, before + (lazy ? 1 : 0));
  }
}

TEST(Io, ErrorsOfAReaderComeOutOfEvaluation) {
  auto file = std::make_shared<Memory>(true);
  save(file, arange(0, 12, 1));
  array loaded = load(file);
  file->bytes.resize(70);
  EXPECT_THROW(eval({loaded}), std::runtime_error);
}

TEST(Io, NamedArraysComeBackFromEachFormat) {
  const std::unordered_map<std::string, array> arrays = {{"a", arange(0, 6, 1)},
                                                         {"b", ones({2, 3}, float16)}};
  auto check = [&](const std::unordered_map<std::string, array>& loaded) {
    ASSERT_EQ(loaded.size(), arrays.size());
    for (const auto& [name, a] : arrays) EXPECT_TRUE(equals(loaded.at(name), a));
  };
  auto zip = std::make_shared<Memory>(true);
  save_npz(zip, arrays, true);
  check(load_npz(zip));
  auto tensors = std::make_shared<Memory>(false);
  save_safetensors(tensors, arrays, {{"key", "value"}});
  const auto [loaded, metadata] = load_safetensors(tensors);
  check(loaded);
  EXPECT_EQ(metadata.at("key"), "value");

  const auto path =
      std::filesystem::temp_directory_path() / ("mlx_io_" + std::to_string(::getpid()) + ".gguf");
  save_gguf(path, arrays, {{"key", "value"}, {"n", array(3)}});
  const GGUFLoad gguf = load_gguf(path);
  check(gguf.first);
  EXPECT_EQ(std::get<std::string>(gguf.second.at("key")), "value");
  EXPECT_EQ(std::get<array>(gguf.second.at("n")).item<int>(), 3);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace mlx::core::test
