// Reads the format GGUF: metadata, descriptions of arrays, elements.
#include <bit>
#include <cstring>
#include <limits>

#include "mlx/io.h"
#include "mlx/io/cursor.h"
#include "mlx/io/gguf.h"
#include "mlx/io/section.h"
#include "mlx/io/stored_array.h"

namespace mlx::core {

namespace io {

namespace {

// The description of an array in a file.
struct GgufEntry {
  std::string name;
  std::vector<uint64_t> extents;  // in the order of MLX's axes
  uint32_t type;
  uint64_t offset;
};

class GgufReader {
 public:
  GgufReader(const std::string& path, StreamOrDevice s)
      : refuse_{"load_gguf", in_quotes(path)},
        file_(open_to_read(path, refuse_.op, Unopened::InvalidArgument), refuse_),
        cursor_(file_, refuse_),
        stream_(to_stream(s, Device::cpu)) {}

  GGUFLoad load() {
    check_version();
    const auto entries = cursor_.number<uint64_t>("the header");
    const auto pairs = cursor_.number<uint64_t>("the header");
    for (uint64_t i = 0; i < pairs; ++i) read_metadata();
    std::vector<GgufEntry> found;
    for (uint64_t i = 0; i < entries; ++i) found.push_back(read_entry());
    place_elements();
    for (const GgufEntry& entry : found) add(entry);
    return std::move(loaded_);
  }

 private:
  void check_version() {
    char magic[sizeof kGgufMagic];
    if (file_.size() < sizeof magic + sizeof(uint32_t))
      refuse_("The file is too short for the format GGUF.");
    cursor_.read(magic, sizeof magic, "the header");
    if (std::memcmp(magic, kGgufMagic, sizeof magic) != 0)
      refuse_("This is not a file in the format GGUF.");
    const auto version = cursor_.number<uint32_t>("the header");
    if (version != 0 && (version & 0xffff) == 0)
      refuse_("Big-endian files of the format GGUF are not supported.");
    if (version != 2 && version != 3) {
      refuse_(message("Version ", size_t(version),
                      " of the format GGUF is unknown: 2 and 3 are supported."));
    }
  }

  void read_metadata() {
    const std::string key = cursor_.text("the metadata");
    const auto type = cursor_.number<uint32_t>("the metadata");
    if (!loaded_.second.emplace(key, read_value(key, type)).second)
      refuse_("The metadata have two values for " + in_quotes(key) + ".");
  }

  GGUFMetaData read_value(const std::string& key, uint32_t type) {
    if (type == kGgufString) return cursor_.text("the metadata");
    if (type != kGgufArray) return read_numbers(key, type, {});
    const auto element = cursor_.number<uint32_t>("the metadata");
    const auto count = cursor_.number<uint64_t>("the metadata");
    if (element != kGgufString) return read_numbers(key, element, {count});
    cursor_.require(count, sizeof(uint64_t), "the metadata");
    std::vector<std::string> strings;
    for (uint64_t i = 0; i < count; ++i) strings.push_back(cursor_.text("the metadata"));
    return strings;
  }

  array read_numbers(const std::string& key, uint32_t type, const std::vector<uint64_t>& extents) {
    const Refusal refuse{refuse_.op, refuse_.label + ", metadata " + in_quotes(key)};
    if (type == kGgufArray) refuse("Arrays of arrays are not supported.");
    const auto dtype = gguf_metadata_type(type);
    if (!dtype) refuse(message("Values of type ", size_t(type), " are unknown."));
    const uint64_t left = file_.size() - cursor_.position();
    array numbers = unwritten_array(checked_shape(extents, *dtype, left, refuse), *dtype);
    cursor_.read(numbers.data<char>(), numbers.nbytes(), "the metadata");
    if (*dtype == bool_) make_bools(numbers.data<char>(), numbers.nbytes());
    return numbers;
  }

  GgufEntry read_entry() {
    constexpr const char* kWhere = "the descriptions of arrays";
    GgufEntry entry;
    entry.name = cursor_.text(kWhere);
    const auto axes = cursor_.number<uint32_t>(kWhere);
    if (axes > kGgufMostAxes) {
      refuse_(message("Array ", in_quotes(entry.name), " is said to have ", size_t(axes),
                      " axes: at most ", size_t(kGgufMostAxes), " are possible."));
    }
    // The file lists the contiguous axis first.
    entry.extents.resize(axes);
    for (size_t i = axes; i-- > 0;) entry.extents[i] = cursor_.number<uint64_t>(kWhere);
    entry.type = cursor_.number<uint32_t>(kWhere);
    entry.offset = cursor_.number<uint64_t>(kWhere);
    return entry;
  }

  // The start of the elements, from the metadata's alignment.
  void place_elements() {
    const auto found = loaded_.second.find(kGgufAlignmentKey);
    if (found != loaded_.second.end()) {
      const array* value = std::get_if<array>(&found->second);
      const bool fits = value && value->ndim() == 0 && value->dtype() == uint32;
      alignment_ = fits ? *value->data<uint32_t>() : 0;
      if (!std::has_single_bit(alignment_))
        refuse_("The metadata \"general.alignment\" are not a power of two of type uint32.");
    }
    begin_ = std::min(aligned(cursor_.position(), alignment_), file_.size());
  }

  void add(const GgufEntry& entry) {
    const Refusal refuse{refuse_.op, refuse_.label + ", array " + in_quotes(entry.name)};
    const uint64_t available = file_.size() - begin_;
    if (entry.offset % alignment_ != 0 || entry.offset > available) {
      refuse(message("The elements are said to begin at byte ", entry.offset, " of ", available,
                     ", which must be a multiple of ", alignment_, "."));
    }
    const uint64_t offset = begin_ + entry.offset, left = available - entry.offset;
    if (const auto dtype = gguf_array_type(entry.type)) {
      Shape shape = checked_shape(entry.extents, *dtype, left, refuse);
      return insert(entry.name,
                    stored_array(file_, offset, std::move(shape), *dtype, false, stream_));
    }
    const auto format = gguf_quantized_format(entry.type);
    if (!format) {
      refuse("Elements of type " + gguf_type_name(entry.type) +
             " are not supported: F32, F16, BF16, F64, I8, I16, I32, I64, Q4_0, Q4_1 and Q8_0 "
             "are.");
    }
    add_quantized(entry, *format, offset, left, refuse);
  }

  void add_quantized(const GgufEntry& entry, const QuantizedFormat& format, uint64_t offset,
                     uint64_t left, const Refusal& refuse) {
    std::vector<uint64_t> extents = entry.extents;
    if (extents.empty() || extents.back() % kGgufBlock != 0) {
      refuse(
          message("Rows of quantised elements must have a multiple of ", kGgufBlock, " elements."));
    }
    extents.back() /= kGgufBlock;
    extents.push_back(format.block_bytes);
    Shape shape = checked_shape(extents, uint8, left, refuse);
    const auto parts = affine_arrays(
        stored_array(file_, offset, std::move(shape), uint8, false, stream_), format, stream_);
    constexpr std::string_view kWeight = ".weight";
    const size_t end = entry.name.size() - std::min(kWeight.size(), entry.name.size());
    const std::string stem =
        entry.name.substr(end) == kWeight ? entry.name.substr(0, end) : entry.name;
    insert(entry.name, parts.weights);
    insert(stem + ".scales", parts.scales);
    insert(stem + ".biases", parts.biases);
  }

  void insert(const std::string& name, const array& a) {
    if (!loaded_.first.emplace(name, a).second)
      refuse_("Two arrays are called " + in_quotes(name) + ".");
  }

  Refusal refuse_;
  Section file_;
  Cursor cursor_;
  Stream stream_;
  uint64_t alignment_ = kGgufAlignment;
  uint64_t begin_ = 0;
  GGUFLoad loaded_;
};

}  // namespace

}  // namespace io

GGUFLoad load_gguf(const std::string& file, StreamOrDevice s) {
  return io::GgufReader(file, s).load();
}

}  // namespace mlx::core
