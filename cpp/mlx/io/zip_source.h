// Adapts readers and writers to libzip.
#pragma once

#include <zip.h>

#include <exception>
#include <memory>
#include <optional>

#include "mlx/io/section.h"

namespace mlx::core::io {

// A source of libzip. An exception of the reader or writer cannot pass through libzip: it is kept,
// and libzip gets an error code.
class ZipSource {
 public:
  explicit ZipSource(const Section& file) : file_(file) {}
  explicit ZipSource(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}
  ZipSource(const ZipSource&) = delete;
  ZipSource& operator=(const ZipSource&) = delete;

  // Returns libzip's object, which refers to this one; null if allocation fails.
  zip_source_t* make(zip_error_t* error);
  // Rethrows the exception that was kept, if any.
  void rethrow();

 private:
  static zip_int64_t call(void* self, void* data, zip_uint64_t length, zip_source_cmd_t command);
  zip_int64_t run(void* data, zip_uint64_t length, zip_source_cmd_t command);
  zip_int64_t run_reader(void* data, zip_uint64_t length, zip_source_cmd_t command);
  zip_int64_t run_writer(void* data, zip_uint64_t length, zip_source_cmd_t command);

  std::optional<Section> file_;  // none if it writes
  std::shared_ptr<Writer> writer_;
  uint64_t position_ = 0;
  std::exception_ptr kept_;
};

}  // namespace mlx::core::io
