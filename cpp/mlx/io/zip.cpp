// Reads and writes zip archives with libzip.
#include "mlx/io/zip.h"

#include <algorithm>

namespace mlx::core::io {

// The contents of a member. Each read begins at the member's start.
class ZipMember : public OffsetReader {
 public:
  ZipMember(ZipArchive& archive, size_t number) : archive_(archive), number_(number) {}

  bool is_open() const override { return true; }
  bool good() const override { return true; }
  std::string label() const override { return archive_.refuse_.label; }
  // Whoever keeps an archive's arrays may write another archive to its path before they are used.
  bool reads_later() const override { return false; }
  using OffsetReader::read;
  void read(char* to, size_t bytes, size_t offset) override {
    archive_.read(number_, to, bytes, offset);
  }

 protected:
  uint64_t size() const override { return archive_.members_[number_].size; }

 private:
  ZipArchive& archive_;
  size_t number_;
};

ZipArchive::ZipArchive(const Section& file, const Refusal& refuse)
    : refuse_(refuse), file_size_(file.size()), source_(file) {
  // What is no archive at all is a ValueError, as in the published mlx. libzip accepts an empty
  // file as an archive without members.
  if (file_size_ == 0) refuse_.invalid("This is not a file in the format npz: it is empty.");
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = source_.make(&error);
  if (source) zip_ = zip_open_from_source(source, ZIP_RDONLY, &error);
  if (!zip_) {
    const std::string why = zip_error_strerror(&error);
    if (source) zip_source_free(source);
    zip_error_fini(&error);
    source_.rethrow();
    refuse_.invalid("This is not a file in the format npz: " + why + ".");
  }
  try {
    const auto count =
        static_cast<uint64_t>(std::max<zip_int64_t>(0, zip_get_num_entries(zip_, 0)));
    for (uint64_t number = 0; number < count; ++number) add_member(number);
  } catch (...) {
    zip_discard(zip_);
    throw;
  }
}

ZipArchive::~ZipArchive() { zip_discard(zip_); }

void ZipArchive::fail(const std::string& what) {
  source_.rethrow();
  refuse_(what);
}

void ZipArchive::add_member(uint64_t number) {
  zip_stat_t status;
  zip_stat_init(&status);
  constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                   ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if (zip_stat_index(zip_, number, 0, &status) != 0 || (status.valid & kNeeded) != kNeeded)
    fail(message("Member ", number, " of the archive cannot be read."));
  const std::string name = status.name;
  if (status.encryption_method != ZIP_EM_NONE)
    refuse_("Member " + in_quotes(name) + " is encrypted, which is not supported.");
  const bool stored = status.comp_method == ZIP_CM_STORE;
  if (!stored && status.comp_method != ZIP_CM_DEFLATE) {
    refuse_(message("Member ", in_quotes(name), " is compressed by method ",
                    static_cast<int>(status.comp_method),
                    ": only stored and deflated members are supported."));
  }
  // Deflate expands at most to 1032 times the size: a larger size is wrong, and is not allocated.
  constexpr uint64_t kMaxFromOne = 1032;
  const uint64_t most = stored ? status.comp_size : status.comp_size * kMaxFromOne;
  if (status.comp_size > file_size_ || status.size > most)
    refuse_("Member " + in_quotes(name) + " is said to have more bytes than the archive can hold.");
  members_.push_back({name, status.size});
}

std::shared_ptr<Reader> ZipArchive::open(size_t number) {
  return std::make_shared<ZipMember>(*this, number);
}

void ZipArchive::read(size_t number, void* to, size_t bytes, uint64_t offset) {
  const std::string name = in_quotes(members_[number].name);
  std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(zip_fopen_index(zip_, number, 0),
                                                         &zip_fclose);
  if (!file) fail("Member " + name + " cannot be read: " + zip_strerror(zip_) + ".");
  std::vector<char> skipped(1 << 16);
  auto next = [&](void* place, uint64_t most) {
    const zip_int64_t count = zip_fread(file.get(), place, most);
    if (count < 0) fail("Member " + name + " is damaged: " + zip_file_strerror(file.get()) + ".");
    return static_cast<uint64_t>(count);
  };
  for (uint64_t count = 0; offset > 0; offset -= count) {
    count = next(skipped.data(), std::min<uint64_t>(offset, skipped.size()));
    if (count == 0) fail("Member " + name + " ends too early.");
  }
  for (auto* place = static_cast<char*>(to); bytes > 0;) {
    const uint64_t count = next(place, bytes);
    if (count == 0) fail("Member " + name + " ends too early.");
    place += count;
    bytes -= count;
  }
  while (next(skipped.data(), skipped.size()) > 0) {
  }
}

namespace {

// An archive without members, which libzip does not write.
constexpr unsigned char kEmptyArchive[22] = {'P', 'K', 5, 6};

void add_to_zip(zip_t* zip, ZipContents& member, bool compressed) {
  zip_source_t* source =
      zip_source_buffer_fragment(zip, member.pieces.data(), member.pieces.size(), 0);
  const zip_int64_t number =
      source ? zip_file_add(zip, member.name.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
  if (number < 0) {
    if (source) zip_source_free(source);
    return;
  }
  const auto index = static_cast<zip_uint64_t>(number);
  zip_set_file_compression(zip, index, compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  // The earliest date of the format, always, so that the same arrays give the same file.
  zip_file_set_dostime(zip, index, 0, (1 << 5) | 1, 0);
}

}  // namespace

void write_zip(const std::shared_ptr<Writer>& writer, std::vector<ZipContents>& members,
               bool compressed, const Refusal& refuse) {
  if (members.empty()) return write_bytes(*writer, kEmptyArchive, sizeof kEmptyArchive);
  ZipSource target(writer);
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = target.make(&error);
  zip_t* zip = source ? zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error) : nullptr;
  if (!zip) {
    const std::string why = zip_error_strerror(&error);
    if (source) zip_source_free(source);
    zip_error_fini(&error);
    target.rethrow();
    refuse("The archive cannot be written: " + why + ".");
  }
  for (ZipContents& member : members) add_to_zip(zip, member, compressed);
  if (static_cast<size_t>(zip_get_num_entries(zip, 0)) == members.size() && zip_close(zip) == 0)
    return;
  const std::string why = zip_strerror(zip);
  zip_discard(zip);
  target.rethrow();
  refuse("The archive cannot be written: " + why + ".");
}

}  // namespace mlx::core::io
