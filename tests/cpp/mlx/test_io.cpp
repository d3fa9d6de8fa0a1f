// Files of arrays through the C++ interface: custom readers and writers, and lazy loading.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>

#include "mlx/check.h"
#include "mlx/io.h"
#include "mlx/ops.h"
#include "mlx/transforms.h"

namespace mlx::core::test {
namespace {

// Bytes in memory. It counts the calls that read them at an offset.
class MemoryReader : public io::OffsetReader {
 public:
  MemoryReader(std::string bytes, bool lazy) : bytes(std::move(bytes)), lazy_(lazy) {}

  bool is_open() const override { return true; }
  bool good() const override { return true; }
  std::string label() const override { return "memory"; }
  bool reads_later() const override { return lazy_; }
  void read(char* to, size_t count, size_t offset) override {
    ++reads;
    if (offset + count > bytes.size()) throw std::runtime_error("beyond the end");
    std::memcpy(to, bytes.data() + offset, count);
  }

  std::string bytes;
  int reads = 0;

 protected:
  uint64_t size() const override { return bytes.size(); }

 private:
  bool lazy_;
};

// A stream of the standard library as a program for MLX adapts one: it overrides no more than
// MLX's classes have.
class StreamReader : public io::Reader {
 public:
  explicit StreamReader(const std::string& bytes) : stream_(bytes) {}

  bool is_open() const override { return open; }
  bool good() const override { return stream_.good(); }
  size_t tell() override { return static_cast<size_t>(stream_.tellg()); }
  void seek(int64_t offset, std::ios_base::seekdir way = std::ios_base::beg) override {
    stream_.seekg(offset, way);
  }
  void read(char* to, size_t count) override { stream_.read(to, std::streamsize(count)); }
  void read(char* to, size_t count, size_t offset) override {
    seek(int64_t(offset));
    read(to, count);
  }
  std::string label() const override { return "a stream"; }

  bool open = true;

 private:
  std::istringstream stream_;
};

class StreamWriter : public io::Writer {
 public:
  bool is_open() const override { return open; }
  bool good() const override { return stream.good(); }
  size_t tell() override { return static_cast<size_t>(stream.tellp()); }
  void seek(int64_t offset, std::ios_base::seekdir way = std::ios_base::beg) override {
    stream.seekp(offset, way);
  }
  void write(const char* from, size_t count) override {
    stream.write(from, std::streamsize(count));
    if (stream.tellp() > most) stream.setstate(std::ios_base::failbit);
  }
  std::string label() const override { return "a stream"; }

  bool open = true;
  std::streamoff most = 1 << 20;
  std::ostringstream stream;
};

template <typename Save>
std::string written_by(Save save) {
  auto writer = std::make_shared<StreamWriter>();
  save(writer);
  return writer->stream.str();
}

bool equals(const array& a, const array& b) { return array_equal(a, b).item<bool>(); }

TEST(Io, ArraysAreReadOnceWhenTheyAreEvaluated) {
  for (bool lazy : {true, false}) {
    const array x = reshape(arange(0, 12, 1), {3, 4});
    const std::string bytes = written_by([&](const auto& to) { save(to, transpose(x)); });
    auto file = std::make_shared<MemoryReader>(bytes, lazy);
    array loaded = load(file);
    const int before = file->reads;
    EXPECT_EQ(loaded.status() == array::Status::unscheduled, lazy);
    EXPECT_TRUE(equals(loaded, transpose(x)));
    EXPECT_TRUE(equals(loaded + loaded, transpose(x) * array(2)));
    EXPECT_EQ(file->reads, before + (lazy ? 1 : 0));
  }
}

TEST(Io, ErrorsOfAReaderComeOutOfEvaluation) {
  const std::string bytes = written_by([](const auto& to) { save(to, arange(0, 12, 1)); });
  auto file = std::make_shared<MemoryReader>(bytes, true);
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
  const auto zip = written_by([&](const auto& to) { save_npz(to, arrays, true); });
  check(load_npz(std::make_shared<MemoryReader>(zip, true)));
  check(load_npz(std::make_shared<StreamReader>(zip)));
  const auto tensors =
      written_by([&](const auto& to) { save_safetensors(to, arrays, {{"key", "value"}}); });
  const auto [loaded, metadata] = load_safetensors(std::make_shared<StreamReader>(tensors));
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

// The message of what `run` throws.
template <typename Run>
std::string error_of(Run run) {
  try {
    run();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST(Io, ArraysAreReadFromWhereAReaderIs) {
  const array x = arange(0, 5, 1);
  const std::string bytes = written_by([&](const auto& to) {
    to->write("before", 6);
    save(to, x);
  });
  auto reader = std::make_shared<StreamReader>(bytes);
  reader->seek(6);
  EXPECT_TRUE(equals(load(reader), x));
}

TEST(Io, ErrorsSayWhatAReaderOrWriterLacks) {
  const std::string bytes = written_by([](const auto& to) { save(to, arange(0, 5, 1)); });
  auto closed = std::make_shared<StreamReader>(bytes);
  closed->open = false;
  EXPECT_EQ(error_of([&] { load(closed); }), "[load] a stream: The file is not open.");
  auto closed_writer = std::make_shared<StreamWriter>();
  closed_writer->open = false;
  EXPECT_EQ(error_of([&] { save(closed_writer, array(1)); }),
            "[save] a stream: The file is not open.");
  auto full = std::make_shared<StreamWriter>();
  full->most = 100;
  EXPECT_EQ(error_of([&] { save(full, zeros({100})); }),
            "[save] a stream: The file cannot be written.");
}

TEST(Io, FilesOfTheFileSystemAreReadersAndWriters) {
  const std::string path = std::filesystem::temp_directory_path() /
                           ("mlx_io_file_" + std::to_string(::getpid()) + ".npy");
  io::ParallelFileReader missing(path);
  EXPECT_FALSE(missing.is_open());
  EXPECT_THROW(missing.read(nullptr, 1), std::runtime_error);
  auto writer = std::make_shared<io::FileWriter>(path);
  EXPECT_FALSE(writer->is_open());
  save(writer, arange(0, 5, 1));
  EXPECT_TRUE(writer->is_open());
  EXPECT_EQ(writer->tell(), std::filesystem::file_size(path));
  auto reader = std::make_shared<io::ParallelFileReader>(path);
  EXPECT_TRUE(equals(load(reader), arange(0, 5, 1)));
  char magic[6];
  reader->seek(0);
  reader->read(magic, sizeof magic);
  EXPECT_EQ(std::string(magic + 1, 5), "NUMPY");
  EXPECT_EQ(reader->tell(), sizeof magic);
  reader->seek(-4, std::ios_base::end);
  reader->seek(2, std::ios_base::cur);
  EXPECT_EQ(reader->tell(), std::filesystem::file_size(path) - 2);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace mlx::core::test
