// Reader and Writer: what the formats of files read from and write to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace mlx::core::io {

class Reader {
 public:
  virtual ~Reader() = default;

  // Names the file in errors.
  virtual const std::string& label() const = 0;
  // The number of bytes that `read` can reach.
  virtual uint64_t size() const = 0;
  // Copies bytes from an offset on, counted from where the reader began. Throws if the file ends
  // before.
  virtual void read(void* to, size_t bytes, uint64_t offset) = 0;
  // Whether `read` may be called later and on any thread, by several at once.
  virtual bool reads_later() const = 0;
};

class Writer {
 public:
  virtual ~Writer() = default;

  virtual const std::string& label() const = 0;
  virtual void write(const void* from, size_t bytes) = 0;
  // Positions in the file: 0 is its first byte, wherever the writer began.
  virtual uint64_t tell() = 0;
  virtual void seek(uint64_t position) = 0;
};

}  // namespace mlx::core::io
