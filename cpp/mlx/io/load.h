// Reader and Writer, the interface between file formats and files, and files of the file system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ios>
#include <memory>
#include <string>

namespace mlx::core::io {

class Reader {
 public:
  virtual ~Reader() = default;

  virtual bool is_open() const = 0;
  // Whether all bytes that were asked for could be read.
  virtual bool good() const = 0;
  virtual size_t tell() = 0;
  virtual void seek(int64_t offset, std::ios_base::seekdir way = std::ios_base::beg) = 0;
  virtual void read(char* to, size_t bytes) = 0;
  // Reads from an offset on, which counts from the file's first byte.
  virtual void read(char* to, size_t bytes, size_t offset) = 0;
  // The file's name in errors.
  virtual std::string label() const = 0;

  // Whether `read` with an offset may be called later and from any thread, also concurrently.
  virtual bool reads_later() const { return true; }
};

class Writer {
 public:
  virtual ~Writer() = default;

  // Called when all that is to be written has been computed: it may come from the same file.
  virtual void open() {}
  virtual bool is_open() const = 0;
  virtual bool good() const = 0;
  virtual size_t tell() = 0;
  virtual void seek(int64_t offset, std::ios_base::seekdir way = std::ios_base::beg) = 0;
  virtual void write(const char* from, size_t bytes) = 0;
  virtual std::string label() const = 0;
};

// A reader whose position is only a number: its bytes are read at offsets.
class OffsetReader : public Reader {
 public:
  size_t tell() override { return position_; }
  void seek(int64_t offset, std::ios_base::seekdir way = std::ios_base::beg) override;
  using Reader::read;
  void read(char* to, size_t bytes) override;

 protected:
  virtual uint64_t size() const = 0;

 private:
  uint64_t position_ = 0;
};

// Stays open as long as arrays are still to be read from it.
class ParallelFileReader : public OffsetReader {
 public:
  // `op` names the operation in errors. A file that cannot be opened throws only when it is read.
  explicit ParallelFileReader(const std::string& path, std::string op = "load");
  ~ParallelFileReader() override;
  ParallelFileReader(const ParallelFileReader&) = delete;
  ParallelFileReader& operator=(const ParallelFileReader&) = delete;

  bool is_open() const override { return descriptor_ >= 0; }
  bool good() const override { return is_open(); }
  using OffsetReader::read;
  void read(char* to, size_t bytes, size_t offset) override;
  std::string label() const override { return label_; }
  // Why the file is not open.
  const std::string& failure() const { return failure_; }

 protected:
  uint64_t size() const override { return size_; }

 private:
  std::string label_;
  std::string op_;
  std::string failure_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

// Truncates the file when it opens it.
class FileWriter : public Writer {
 public:
  explicit FileWriter(std::string path, std::string op = "save");
  ~FileWriter() override;
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void open() override;
  bool is_open() const override { return descriptor_ >= 0; }
  bool good() const override { return is_open(); }
  size_t tell() override;
  void seek(int64_t offset, std::ios_base::seekdir way = std::ios_base::beg) override;
  void write(const char* from, size_t bytes) override;
  std::string label() const override { return label_; }
  // Throws if the last bytes could not be written.
  void close();

 private:
  std::string path_;
  std::string label_;
  std::string op_;
  int descriptor_ = -1;
};

}  // namespace mlx::core::io
