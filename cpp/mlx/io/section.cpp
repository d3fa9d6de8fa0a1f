// What file formats need of readers and writers: bytes at offsets of a known size, opened files.
#include "mlx/io/section.h"

#include <utility>

namespace mlx::core::io {

Section::Section(std::shared_ptr<Reader> reader, const Refusal& refuse)
    : reader_(std::move(reader)) {
  if (!reader_->is_open() || !reader_->good()) refuse("The file is not open.");
  begin_ = reader_->tell();
  reader_->seek(0, std::ios_base::end);
  const uint64_t end = reader_->tell();
  reader_->seek(static_cast<int64_t>(begin_));
  if (!reader_->good()) refuse("The file has no positions.");
  if (end > begin_) size_ = end - begin_;
}

void Section::read(void* to, size_t bytes, uint64_t offset) const {
  reader_->read(static_cast<char*>(to), bytes, begin_ + offset);
  if (!reader_->good())
    Refusal{"load", reader_->label()}(message("The file ends before byte ", offset + bytes, "."));
}

std::shared_ptr<Reader> open_to_read(const std::string& path, const std::string& op,
                                     Unopened unopened) {
  auto reader = std::make_shared<ParallelFileReader>(path, op);
  if (reader->is_open()) return reader;
  const Refusal refuse{op, reader->label()};
  if (unopened == Unopened::InvalidArgument) refuse.invalid(reader->failure());
  refuse(reader->failure());
}

void open_to_write(Writer& writer, const std::string& op) {
  writer.open();
  if (!writer.is_open() || !writer.good()) Refusal{op, writer.label()}("The file is not open.");
}

void write_bytes(Writer& writer, const void* from, size_t bytes) {
  if (bytes == 0) return;
  writer.write(static_cast<const char*>(from), bytes);
  if (!writer.good()) Refusal{"save", writer.label()}("The file cannot be written.");
}

std::string with_extension(std::string path, const std::string& extension) {
  return path.ends_with(extension) ? path : path + extension;
}

}  // namespace mlx::core::io
