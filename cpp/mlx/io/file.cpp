// Files of the file system as Reader and Writer.
#include "mlx/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "mlx/io/refusal.h"

namespace mlx::core::io {

namespace {

using Unopened = FileReader::Unopened;

int open_file(const std::string& path, int flags, const Refusal& refusal,
              Unopened unopened = Unopened::Failure) {
  const auto refuse = [&](const std::string& what) {
    unopened == Unopened::Failure ? refusal(what) : refusal.invalid(what);
  };
  if (path.find('\0') != std::string::npos) refuse("A path cannot contain a zero byte.");
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) refuse("The file cannot be opened: " + system_error() + ".");
  return descriptor;
}

}  // namespace

FileReader::FileReader(const std::string& path, const std::string& op, Unopened unopened)
    : label_(in_quotes(path)),
      op_(op),
      // Opening a pipe must not block: it is refused.
      descriptor_(open_file(path, O_RDONLY | O_NONBLOCK, Refusal{op, label_}, unopened)) {
  struct stat status{};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (known && S_ISREG(status.st_mode)) {
    size_ = static_cast<uint64_t>(status.st_size);
    return;
  }
  const std::string why = known ? "This is not a regular file." : system_error() + ".";
  ::close(descriptor_);
  Refusal{op, label_}(why);
}

FileReader::~FileReader() { ::close(descriptor_); }

void FileReader::read(void* to, size_t bytes, uint64_t offset) {
  auto* place = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t count = ::pread(descriptor_, place, bytes, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    const Refusal refuse{op_, label_};
    if (count < 0) refuse("The file cannot be read: " + system_error() + ".");
    if (count == 0) refuse(message("The file ends after ", offset, " bytes."));
    place += count;
    offset += static_cast<uint64_t>(count);
    bytes -= static_cast<size_t>(count);
  }
}

FileWriter::FileWriter(const std::string& path, const std::string& op)
    : label_(in_quotes(path)),
      op_(op),
      descriptor_(open_file(path, O_WRONLY | O_CREAT | O_TRUNC, Refusal{op, label_})) {}

FileWriter::~FileWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FileWriter::write(const void* from, size_t bytes) {
  const auto* place = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t count = ::write(descriptor_, place, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) Refusal{op_, label_}("The file cannot be written: " + system_error() + ".");
    place += count;
    bytes -= static_cast<size_t>(count);
  }
}

uint64_t FileWriter::tell() { return static_cast<uint64_t>(::lseek(descriptor_, 0, SEEK_CUR)); }

void FileWriter::seek(uint64_t position) {
  if (::lseek(descriptor_, static_cast<off_t>(position), SEEK_SET) < 0)
    Refusal{op_, label_}("The file has no positions: " + system_error() + ".");
}

void FileWriter::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0)
    Refusal{op_, label_}("The file cannot be written: " + system_error() + ".");
}

std::string with_extension(std::string path, const std::string& extension) {
  const bool has = path.size() >= extension.size() &&
                   path.compare(path.size() - extension.size(), extension.size(), extension) == 0;
  return has ? path : path + extension;
}

}  // namespace mlx::core::io
