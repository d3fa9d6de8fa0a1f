// What file formats need of readers and writers: bytes at offsets of a known size, opened files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "mlx/io/load.h"
#include "mlx/io/refusal.h"

namespace mlx::core::io {

// The bytes from a reader's position on. Offsets count from there.
class Section {
 public:
  Section(std::shared_ptr<Reader> reader, const Refusal& refuse);

  uint64_t size() const { return size_; }
  bool reads_later() const { return reader_->reads_later(); }
  void read(void* to, size_t bytes, uint64_t offset) const;

 private:
  std::shared_ptr<Reader> reader_;
  uint64_t begin_;
  uint64_t size_ = 0;
};

// What a path is that cannot be opened: std::runtime_error or std::invalid_argument.
enum class Unopened { Failure, InvalidArgument };
std::shared_ptr<Reader> open_to_read(const std::string& path, const std::string& op,
                                     Unopened unopened = Unopened::Failure);
// Opens a writer that was given as an argument.
void open_to_write(Writer& writer, const std::string& op);
// Writes bytes; throws if the writer says that it could not.
void write_bytes(Writer& writer, const void* from, size_t bytes);

// The path, with the extension appended if it ends otherwise.
std::string with_extension(std::string path, const std::string& extension);

}  // namespace mlx::core::io
