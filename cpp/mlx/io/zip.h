// Reads and writes zip archives with libzip.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mlx/io/refusal.h"
#include "mlx/io/zip_source.h"

namespace mlx::core::io {

// An open archive.
class ZipArchive {
 public:
  ZipArchive(const Section& file, const Refusal& refuse);
  ~ZipArchive();
  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;

  struct Member {
    std::string name;
    uint64_t size;  // of the contents, as the archive says
  };
  const std::vector<Member>& members() const { return members_; }
  // The contents of a member, which are read from this archive while it is there.
  std::shared_ptr<Reader> open(size_t number);

 private:
  friend class ZipMember;
  [[noreturn]] void fail(const std::string& what);
  void add_member(uint64_t number);
  // Reads to the member's end, so that libzip compares the checksum.
  void read(size_t number, void* to, size_t bytes, uint64_t offset);

  Refusal refuse_;
  uint64_t file_size_;
  ZipSource source_;
  zip_t* zip_ = nullptr;
  std::vector<Member> members_;
};

// The contents of one member: pieces of memory, which must stay until the archive is written.
struct ZipContents {
  std::string name;
  std::vector<zip_buffer_fragment_t> pieces;
};

void write_zip(const std::shared_ptr<Writer>& writer, std::vector<ZipContents>& members,
               bool compressed, const Refusal& refuse);

}  // namespace mlx::core::io
