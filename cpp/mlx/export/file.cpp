// Files of exported functions. A checksum finds files that have changed since they were written.
#include "mlx/export/file.h"

#include <algorithm>
#include <cstring>

#include "mlx/errors.h"
#include "mlx/io/section.h"
#include "mlx/io/stored_array.h"

namespace mlx::core::exported {

namespace {

constexpr char kMagic[8] = {'M', 'L', 'X', 'F', 'U', 'N', 'C', '\n'};
constexpr uint32_t kVersion = 1;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t zero;
  uint64_t file_bytes;
  uint64_t description_bytes;
  uint64_t checksum;
};
static_assert(sizeof(Header) == 40);

// Each step can be inverted: if one word of 8 bytes differs, the sum differs.
class Checksum {
 public:
  explicit Checksum(const Header& header) {
    add_word(header.file_bytes);
    add_word(header.description_bytes);
  }

  void add(const void* bytes, size_t count) {
    const auto* from = static_cast<const char*>(bytes);
    for (; filled_ == 0 && count >= 8; from += 8, count -= 8) {
      std::memcpy(word_, from, 8);
      flush();
    }
    while (count > 0) {
      const size_t part = std::min(count, 8 - filled_);
      std::memcpy(word_ + filled_, from, part);
      filled_ += part, from += part, count -= part;
      if (filled_ == 8) flush();
    }
  }
  uint64_t result() {
    std::memset(word_ + filled_, 0, 8 - filled_);
    flush();
    return sum_;
  }

 private:
  void flush() {
    uint64_t word;
    std::memcpy(&word, word_, 8);
    add_word(word);
    filled_ = 0;
  }
  void add_word(uint64_t word) {
    sum_ = std::rotl((sum_ ^ word) * 0x9e3779b97f4a7c15u, 29) + 0x632be59bd9b4e019u;
  }

  uint64_t sum_ = 0;
  char word_[8] = {};
  size_t filled_ = 0;
};

Header checked_header(const io::Section& file, const io::Refusal& refuse) {
  Header header{};
  if (file.size() < sizeof header) refuse("This is not a file of exported functions.");
  file.read(&header, sizeof header, 0);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) {
    refuse("This is not a file of exported functions, or one of another library.");
  }
  if (header.version != kVersion || header.zero != 0) {
    refuse(message("The file has version ", static_cast<size_t>(header.version),
                   " of the format, but only version ", static_cast<size_t>(kVersion),
                   " can be read."));
  }
  if (header.file_bytes != file.size()) {
    refuse(message("The file is cut off or damaged: it has ", file.size(), " bytes instead of ",
                   header.file_bytes, "."));
  }
  if (header.description_bytes > header.file_bytes - sizeof header) {
    refuse("The file is damaged: its description goes beyond its end.");
  }
  return header;
}

void check_sum(const io::Section& file, const Header& header, const io::Refusal& refuse) {
  constexpr uint64_t kPart = 1 << 20;
  Checksum sum(header);
  std::string part;
  for (uint64_t at = sizeof header; at < header.file_bytes; at += part.size()) {
    part.resize(std::min(kPart, header.file_bytes - at));
    file.read(part.data(), part.size(), at);
    sum.add(part.data(), part.size());
  }
  if (sum.result() != header.checksum) refuse("The file is damaged: its checksum is wrong.");
}

std::vector<array> read_constants(ByteReader& from, const io::Section& file, uint64_t at) {
  std::vector<array> constants;
  const auto count = get<uint64_t>(from);
  for (uint64_t i = 0; i < count; ++i) {
    const Dtype dtype = get<Dtype>(from);
    const auto extents = get<std::vector<uint64_t>>(from);
    Shape shape = io::checked_shape(extents, dtype, file.size() - at, from.refusal());
    constants.push_back(io::unwritten_array(std::move(shape), dtype));
    array& constant = constants.back();
    if (constant.nbytes() == 0) continue;
    io::read_elements(file, constant.data<char>(), constant.nbytes(), at, dtype, false);
    at += constant.nbytes();
  }
  return constants;
}

std::string describe(const std::string& metadata, bool shapeless, size_t num_functions,
                     const std::string& functions, const std::vector<array>& constants) {
  ByteWriter to;
  put(to, metadata);
  put(to, shapeless);
  put(to, uint64_t{constants.size()});
  for (const auto& constant : constants) {
    put(to, constant.dtype());
    put(to, std::vector<uint64_t>(constant.shape().begin(), constant.shape().end()));
  }
  put(to, uint64_t{num_functions});
  to.bytes += functions;
  return std::move(to.bytes);
}

}  // namespace

void write_file(const std::string& path, const std::string& metadata, bool shapeless,
                size_t num_functions, const std::string& functions,
                const std::vector<array>& constants) {
  const auto ready = io::arrays_to_write(constants);
  const std::string description = describe(metadata, shapeless, num_functions, functions, ready);
  Header header{{}, kVersion, 0, sizeof(Header) + description.size(), description.size(), 0};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  for (const auto& constant : ready) header.file_bytes += constant.nbytes();
  Checksum sum(header);
  sum.add(description.data(), description.size());
  for (const auto& constant : ready) {
    if (constant.nbytes() > 0) sum.add(constant.data<char>(), constant.nbytes());
  }
  header.checksum = sum.result();

  io::FileWriter writer(path, "export_function");
  writer.open();
  io::write_bytes(writer, &header, sizeof header);
  writer.write(description.data(), description.size());
  for (const auto& constant : ready) io::write_elements(writer, constant);
  writer.close();
}

Contents read_file(const std::string& path) {
  const io::Refusal refuse{"import_function", io::in_quotes(path)};
  const io::Section file(io::open_to_read(path, refuse.op), refuse);
  const Header header = checked_header(file, refuse);
  check_sum(file, header, refuse);
  std::string description(header.description_bytes, '\0');
  file.read(description.data(), description.size(), sizeof header);

  ByteReader from(description, refuse);
  Contents contents;
  contents.metadata = get<std::string>(from);
  contents.shapeless = get<bool>(from);
  const auto constants = read_constants(from, file, sizeof header + description.size());
  const auto count = get<uint64_t>(from);
  for (uint64_t i = 0; i < count; ++i) {
    contents.functions.push_back(read_function(from, constants, contents.shapeless));
  }
  if (from.left() > 0) refuse("The file is damaged: its description is too long.");
  return contents;
}

}  // namespace mlx::core::exported
