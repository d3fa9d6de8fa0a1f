// Reader and Writer: the interface between file formats and files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace mlx::core::io {

class Reader {
 public:
  virtual ~Reader() = default;

  // The file's name in errors.
  virtual const std::string& label() const = 0;
  // The number of bytes that can be read.
  virtual uint64_t size() const = 0;
  // Copies bytes from an offset on, relative to where the reader began. Throws if the file ends
  // before that.
  virtual void read(void* to, size_t bytes, uint64_t offset) = 0;
  // Whether `read` may be called later and from any thread, also concurrently.
  virtual bool reads_later() const = 0;
};

class Writer {
 public:
  virtual ~Writer() = default;

  virtual const std::string& label() const = 0;
  virtual void write(const void* from, size_t bytes) = 0;
  // Positions count from the first byte of the file, also if the writer began elsewhere.
  virtual uint64_t tell() = 0;
  virtual void seek(uint64_t position) = 0;
};

}  // namespace mlx::core::io
