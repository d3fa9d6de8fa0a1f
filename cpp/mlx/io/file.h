// Files of the file system as Reader and Writer.
#pragma once

#include "mlx/io/reader.h"

namespace mlx::core::io {

// Stays open as long as arrays are still to be read from it.
class FileReader : public Reader {
 public:
  // What a path is that cannot be opened: std::runtime_error or std::invalid_argument.
  enum class Unopened { Failure, InvalidArgument };

  // `op` names the operation in errors.
  FileReader(const std::string& path, const std::string& op, Unopened unopened = Unopened::Failure);
  ~FileReader() override;
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  const std::string& label() const override { return label_; }
  uint64_t size() const override { return size_; }
  void read(void* to, size_t bytes, uint64_t offset) override;
  bool reads_later() const override { return true; }

 private:
  std::string label_;
  std::string op_;
  int descriptor_;
  uint64_t size_ = 0;
};

// Truncates the file first.
class FileWriter : public Writer {
 public:
  FileWriter(const std::string& path, const std::string& op);
  ~FileWriter() override;
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  const std::string& label() const override { return label_; }
  void write(const void* from, size_t bytes) override;
  uint64_t tell() override;
  void seek(uint64_t position) override;
  // Throws if the last bytes could not be written.
  void close();

 private:
  std::string label_;
  std::string op_;
  int descriptor_;
};

// The path, with the extension appended if it ends otherwise.
std::string with_extension(std::string path, const std::string& extension);

}  // namespace mlx::core::io
