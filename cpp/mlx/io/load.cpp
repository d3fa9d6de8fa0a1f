// Files of the file system as Reader and Writer.
#include "mlx/io/load.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "mlx/io/refusal.h"

namespace mlx::core::io {

namespace {

int open_file(const std::string& path, int flags, std::string& failure) {
  if (path.find('\0') != std::string::npos) {
    failure = "A path cannot contain a zero byte.";
    return -1;
  }
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) failure = "The file cannot be opened: " + system_error() + ".";
  return descriptor;
}

}  // namespace

void OffsetReader::seek(int64_t offset, std::ios_base::seekdir way) {
  uint64_t from = 0;
  if (way == std::ios_base::cur) from = position_;
  if (way == std::ios_base::end) from = size();
  position_ = from + static_cast<uint64_t>(offset);
}

void OffsetReader::read(char* to, size_t bytes) {
  read(to, bytes, position_);
  position_ += bytes;
}

ParallelFileReader::ParallelFileReader(const std::string& path, std::string op)
    : label_(in_quotes(path)),
      op_(std::move(op)),
      // Opening a pipe must not block: it is refused.
      descriptor_(open_file(path, O_RDONLY | O_NONBLOCK, failure_)) {
  if (descriptor_ < 0) return;
  struct stat status{};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (known && S_ISREG(status.st_mode)) {
    size_ = static_cast<uint64_t>(status.st_size);
    return;
  }
  failure_ = known ? "This is not a regular file." : system_error() + ".";
  ::close(std::exchange(descriptor_, -1));
}

ParallelFileReader::~ParallelFileReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void ParallelFileReader::read(char* to, size_t bytes, size_t offset) {
  const Refusal refuse{op_, label_};
  if (!is_open()) refuse(failure_);
  while (bytes > 0) {
    const ssize_t count = ::pread(descriptor_, to, bytes, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse("The file cannot be read: " + system_error() + ".");
    if (count == 0) refuse(message("The file ends after ", offset, " bytes."));
    to += count;
    offset += static_cast<size_t>(count);
    bytes -= static_cast<size_t>(count);
  }
}

FileWriter::FileWriter(std::string path, std::string op)
    : path_(std::move(path)), label_(in_quotes(path_)), op_(std::move(op)) {}

FileWriter::~FileWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FileWriter::open() {
  if (is_open()) return;
  std::string failure;
  descriptor_ = open_file(path_, O_WRONLY | O_CREAT | O_TRUNC, failure);
  if (!is_open()) Refusal{op_, label_}(failure);
}

void FileWriter::write(const char* from, size_t bytes) {
  while (bytes > 0) {
    const ssize_t count = ::write(descriptor_, from, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) Refusal{op_, label_}("The file cannot be written: " + system_error() + ".");
    from += count;
    bytes -= static_cast<size_t>(count);
  }
}

size_t FileWriter::tell() { return static_cast<size_t>(::lseek(descriptor_, 0, SEEK_CUR)); }

void FileWriter::seek(int64_t offset, std::ios_base::seekdir way) {
  const int from = way == std::ios_base::beg   ? SEEK_SET
                   : way == std::ios_base::cur ? SEEK_CUR
                                               : SEEK_END;
  if (::lseek(descriptor_, static_cast<off_t>(offset), from) < 0)
    Refusal{op_, label_}("The file has no positions: " + system_error() + ".");
}

void FileWriter::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0)
    Refusal{op_, label_}("The file cannot be written: " + system_error() + ".");
}

}  // namespace mlx::core::io
