// Adapts readers and writers to libzip.
#include "mlx/io/zip_source.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace mlx::core::io {

zip_source_t* ZipSource::make(zip_error_t* error) {
  return zip_source_function_create(&ZipSource::call, this, error);
}

void ZipSource::rethrow() {
  if (kept_) std::rethrow_exception(std::exchange(kept_, nullptr));
}

zip_int64_t ZipSource::call(void* self, void* data, zip_uint64_t length, zip_source_cmd_t command) {
  auto& source = *static_cast<ZipSource*>(self);
  try {
    return source.run(data, length, command);
  } catch (...) {
    if (!source.kept_) source.kept_ = std::current_exception();
    return -1;
  }
}

zip_int64_t ZipSource::run(void* data, zip_uint64_t length, zip_source_cmd_t command) {
  switch (command) {
    case ZIP_SOURCE_ERROR: {
      zip_error_t error;
      zip_error_init(&error);
      // A writer's file is treated as one that does not exist yet.
      zip_error_set(&error, ZIP_ER_READ, writer_ && !kept_ ? ENOENT : EIO);
      return zip_error_to_data(&error, data, length);
    }
    case ZIP_SOURCE_FREE:
    case ZIP_SOURCE_CLOSE:
      return 0;
    default:
      return file_ ? run_reader(data, length, command) : run_writer(data, length, command);
  }
}

zip_int64_t ZipSource::run_reader(void* data, zip_uint64_t length, zip_source_cmd_t command) {
  switch (command) {
    case ZIP_SOURCE_SUPPORTS:
      return ZIP_SOURCE_SUPPORTS_SEEKABLE;
    case ZIP_SOURCE_OPEN:
      position_ = 0;
      return 0;
    case ZIP_SOURCE_READ: {
      const uint64_t count = std::min<uint64_t>(length, file_->size() - position_);
      file_->read(data, count, position_);
      position_ += count;
      return static_cast<zip_int64_t>(count);
    }
    case ZIP_SOURCE_SEEK: {
      zip_error_t error;
      zip_error_init(&error);
      const auto place =
          zip_source_seek_compute_offset(position_, file_->size(), data, length, &error);
      if (place < 0) return -1;
      position_ = static_cast<uint64_t>(place);
      return 0;
    }
    case ZIP_SOURCE_TELL:
      return static_cast<zip_int64_t>(position_);
    case ZIP_SOURCE_STAT: {
      auto* status = static_cast<zip_stat_t*>(data);
      zip_stat_init(status);
      status->size = file_->size();
      status->valid = ZIP_STAT_SIZE;
      return sizeof(zip_stat_t);
    }
    default:
      return -1;
  }
}

zip_int64_t ZipSource::run_writer(void* data, zip_uint64_t length, zip_source_cmd_t command) {
  switch (command) {
    case ZIP_SOURCE_SUPPORTS:
      return ZIP_SOURCE_SUPPORTS_WRITABLE;
    case ZIP_SOURCE_BEGIN_WRITE:
    case ZIP_SOURCE_COMMIT_WRITE:
    case ZIP_SOURCE_ROLLBACK_WRITE:
    case ZIP_SOURCE_REMOVE:
      return 0;
    case ZIP_SOURCE_WRITE:
      write_bytes(*writer_, data, length);
      return static_cast<zip_int64_t>(length);
    case ZIP_SOURCE_SEEK_WRITE: {
      const auto* target = static_cast<const zip_source_args_seek_t*>(data);
      if (length < sizeof *target || target->whence != SEEK_SET) return -1;
      writer_->seek(target->offset);
      return 0;
    }
    case ZIP_SOURCE_TELL_WRITE:
      return static_cast<zip_int64_t>(writer_->tell());
    default:
      return -1;  // there is nothing to read yet
  }
}

}  // namespace mlx::core::io
