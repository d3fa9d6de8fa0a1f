// Writes the format GGUF: metadata, descriptions of arrays, elements.
#include <algorithm>
#include <bit>
#include <map>

#include "mlx/io.h"
#include "mlx/io/gguf.h"
#include "mlx/io/section.h"
#include "mlx/io/stored_array.h"

namespace mlx::core {

namespace {

constexpr const char* kSaveGguf = "save_gguf";

// Everything that is written before the elements.
class GgufHeader {
 public:
  GgufHeader(size_t arrays, size_t pairs) {
    bytes_.append(io::kGgufMagic, sizeof io::kGgufMagic);
    add(io::kGgufVersion);
    add<uint64_t>(arrays);
    add<uint64_t>(pairs);
  }

  void add_metadata(const std::string& key, const GGUFMetaData& value) {
    add_text(key);
    if (const auto* text = std::get_if<std::string>(&value)) {
      add(io::kGgufString);
      add_text(*text);
    } else if (const auto* strings = std::get_if<std::vector<std::string>>(&value)) {
      add(io::kGgufArray);
      add(io::kGgufString);
      add<uint64_t>(strings->size());
      for (const std::string& string : *strings) add_text(string);
    } else if (const auto* numbers = std::get_if<array>(&value)) {
      add_numbers(key, *numbers);
    } else {
      invalid_argument(kSaveGguf, "The metadata " + io::in_quotes(key) + " have no value.");
    }
  }

  void add_array(const std::string& name, const array& a, uint64_t offset) {
    const auto type = io::gguf_array_number(a.dtype());
    if (!type) {
      invalid_argument(kSaveGguf, message("The format GGUF has no type for arrays of ", a.dtype(),
                                          ", such as ", io::in_quotes(name), "."));
    }
    if (a.ndim() > io::kGgufMostAxes) {
      invalid_argument(kSaveGguf,
                       message("Array ", io::in_quotes(name), " has ", a.ndim(), " axes: at most ",
                               size_t(io::kGgufMostAxes), " are possible."));
    }
    add_text(name);
    add(static_cast<uint32_t>(a.ndim()));
    for (size_t i = a.ndim(); i-- > 0;) add(static_cast<uint64_t>(a.shape()[i]));
    add(*type);
    add(offset);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  template <typename T>
  void add(T number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }

  void add_text(const std::string& text) {
    add<uint64_t>(text.size());
    bytes_ += text;
  }

  void add_numbers(const std::string& key, const array& numbers) {
    const auto type = io::gguf_metadata_number(numbers.dtype());
    if (!type || numbers.ndim() > 1) {
      invalid_argument(kSaveGguf,
                       message("The metadata ", io::in_quotes(key), " are an array of shape ",
                               numbers.shape(), " and type ", numbers.dtype(),
                               ": at most one axis, and no float16, bfloat16 or complex64, are "
                               "possible."));
    }
    if (numbers.ndim() == 1) {
      add(io::kGgufArray);
      add(*type);
      add<uint64_t>(numbers.size());
    } else {
      add(*type);
    }
    if (numbers.nbytes() > 0) bytes_.append(numbers.data<char>(), numbers.nbytes());
  }

  std::string bytes_;
};

// The metadata in alphabetic order, with evaluated arrays.
std::map<std::string, GGUFMetaData> ordered(
    const std::unordered_map<std::string, GGUFMetaData>& metadata) {
  std::map<std::string, GGUFMetaData> out(metadata.begin(), metadata.end());
  for (auto& [key, value] : out) {
    if (auto* numbers = std::get_if<array>(&value)) *numbers = io::arrays_to_write({*numbers})[0];
  }
  return out;
}

uint64_t alignment_of(const std::map<std::string, GGUFMetaData>& metadata) {
  const auto found = metadata.find(io::kGgufAlignmentKey);
  if (found == metadata.end()) return io::kGgufAlignment;
  const array* value = std::get_if<array>(&found->second);
  const bool fits = value && value->ndim() == 0 && value->dtype() == uint32;
  const uint64_t alignment = fits ? *value->data<uint32_t>() : 0;
  if (!std::has_single_bit(alignment)) {
    invalid_argument(kSaveGguf,
                     "The metadata \"general.alignment\" must be a power of two of type uint32.");
  }
  return alignment;
}

void pad(io::Writer& writer, uint64_t alignment) {
  const uint64_t place = writer.tell();
  const std::string zeros(io::aligned(place, alignment) - place, '\0');
  io::write_bytes(writer, zeros.data(), zeros.size());
}

}  // namespace

void save_gguf(std::string file, const std::unordered_map<std::string, array>& arrays,
               const std::unordered_map<std::string, GGUFMetaData>& given) {
  const auto metadata = ordered(given);
  const uint64_t alignment = alignment_of(metadata);
  std::vector<std::string> names;
  for (const auto& [name, a] : arrays) names.push_back(name);
  std::sort(names.begin(), names.end());
  std::vector<array> values;
  for (const auto& name : names) values.push_back(arrays.at(name));
  values = io::arrays_to_write(std::move(values));

  GgufHeader header(arrays.size(), metadata.size());
  for (const auto& [key, value] : metadata) header.add_metadata(key, value);
  uint64_t offset = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    header.add_array(names[i], values[i], offset);
    offset += io::aligned(values[i].nbytes(), alignment);
  }
  io::FileWriter writer(io::with_extension(std::move(file), ".gguf"), kSaveGguf);
  writer.open();
  writer.write(header.bytes().data(), header.bytes().size());
  for (const array& a : values) {
    pad(writer, alignment);
    io::write_elements(writer, a);
  }
  pad(writer, alignment);
  writer.close();
}

}  // namespace mlx::core
