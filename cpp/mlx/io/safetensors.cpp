// The format safetensors: the length of a header, the header in JSON, and the elements.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "mlx/io.h"
#include "mlx/io/section.h"
#include "mlx/io/stored_array.h"

namespace mlx::core {

namespace {

using nlohmann::json;

constexpr const char* kMetadata = "__metadata__";
constexpr size_t kLengthBytes = 8;
constexpr uint64_t kLongestHeader = 100'000'000;  // the format's own limit

struct NamedType {
  const char* name;
  Dtype dtype;
};

constexpr NamedType kTypes[] = {
    {"BOOL", bool_},    {"U8", uint8},    {"U16", uint16},  {"U32", uint32},   {"U64", uint64},
    {"I8", int8},       {"I16", int16},   {"I32", int32},   {"I64", int64},    {"F16", float16},
    {"BF16", bfloat16}, {"F32", float32}, {"F64", float64}, {"C64", complex64}};

const char* name_of_type(Dtype dtype) {
  return std::find_if(std::begin(kTypes), std::end(kTypes),
                      [&](const NamedType& type) { return type.dtype == dtype; })
      ->name;
}

// The header's entry for an array; begin and end count from the end of the header.
struct Entry {
  std::string name;
  Dtype dtype;
  Shape shape;
  uint64_t begin;
  uint64_t end;
};

class HeaderReader {
 public:
  HeaderReader(const io::Section& file, io::Refusal refuse)
      : file_(file), refuse_(std::move(refuse)) {
    const json header = read_header();
    for (const auto& [name, value] : header.items()) {
      name == kMetadata ? read_metadata(value) : read_entry(name, value);
    }
    check_ranges();
  }

  std::vector<Entry> entries;
  std::unordered_map<std::string, std::string> metadata;
  uint64_t elements_begin = kLengthBytes;

 private:
  json read_header() {
    const uint64_t size = file_.size();
    uint64_t length = 0;
    if (size < kLengthBytes) refuse_("The file is too short for the format safetensors.");
    file_.read(&length, kLengthBytes, 0);
    if (length > size - kLengthBytes || length > kLongestHeader) {
      refuse_(message("The header is said to have ", length, " bytes: the file has ",
                      size - kLengthBytes, " behind this number, and the most is ", kLongestHeader,
                      "."));
    }
    std::string text(length, '\0');
    file_.read(text.data(), length, kLengthBytes);
    elements_begin += length;
    json header = json::parse(text, nullptr, false);
    if (!header.is_object()) refuse_("The header is not an object in JSON.");
    return header;
  }

  void read_metadata(const json& value) {
    if (!value.is_object()) refuse_("The metadata are not an object in JSON.");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) refuse_("The metadata " + io::in_quotes(key) + " are not a string.");
      metadata.emplace(key, text.get<std::string>());
    }
  }

  void read_entry(const std::string& name, const json& value) {
    const io::Refusal refuse{refuse_.op, refuse_.label + ", array " + io::in_quotes(name)};
    for (const char* key : {"dtype", "shape", "data_offsets"}) {
      if (!value.is_object() || !value.contains(key))
        refuse(std::string("The header does not give its ") + key + ".");
    }
    const auto offsets = numbers(value["data_offsets"], "data_offsets", refuse);
    const uint64_t available = file_.size() - elements_begin;
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > available) {
      refuse(
          message("The data_offsets must be a beginning and an end within ", available, " bytes."));
    }
    const uint64_t bytes = offsets[1] - offsets[0];
    const Dtype dtype = type(value["dtype"], refuse);
    Shape shape = io::checked_shape(numbers(value["shape"], "shape", refuse), dtype, bytes, refuse);
    if (shape_bytes(shape, dtype) != bytes) {
      refuse(message("An array of shape ", shape, " and type ", dtype, " does not have ", bytes,
                     " bytes."));
    }
    entries.push_back({name, dtype, std::move(shape), offsets[0], offsets[1]});
  }

  static std::vector<uint64_t> numbers(const json& value, const char* what,
                                       const io::Refusal& refuse) {
    std::vector<uint64_t> found;
    for (const json& number : value.is_array() ? value : json::array({nullptr})) {
      if (!number.is_number_unsigned())
        refuse(std::string("The ") + what + " must be whole numbers that are not negative.");
      found.push_back(number.get<uint64_t>());
    }
    return found;
  }

  static Dtype type(const json& value, const io::Refusal& refuse) {
    for (const auto& [name, dtype] : kTypes) {
      if (value == name) return dtype;
    }
    const bool is_text = value.is_string();
    refuse("Elements of type " +
           io::in_quotes(is_text ? value.get<std::string>() : value.type_name()) +
           " are not supported.");
  }

  static uint64_t shape_bytes(const Shape& shape, Dtype dtype) {
    uint64_t bytes = dtype.size();
    for (int extent : shape) bytes *= static_cast<uint64_t>(extent);
    return bytes;
  }

  // The arrays must fill the rest of the file, one after the other.
  void check_ranges() {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    uint64_t covered = 0;
    for (const Entry& entry : entries) {
      if (entry.begin != covered) {
        refuse_(message("Array ", io::in_quotes(entry.name), " begins at byte ", entry.begin,
                        ", but the one before ends at byte ", covered, "."));
      }
      covered = entry.end;
    }
    const uint64_t available = file_.size() - elements_begin;
    if (covered != available) {
      refuse_(message("The arrays end at byte ", covered, ", but the file has ", available,
                      " behind the header."));
    }
  }

  const io::Section& file_;
  io::Refusal refuse_;
};

// The order of the arrays in the file: those with the largest elements first, so that all are
// aligned.
std::vector<std::pair<std::string, array>> in_file_order(
    const std::unordered_map<std::string, array>& arrays) {
  std::vector<std::pair<std::string, array>> ordered(arrays.begin(), arrays.end());
  std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return std::pair(b.second.itemsize(), a.first) < std::pair(a.second.itemsize(), b.first);
  });
  std::vector<array> values;
  for (auto& [name, a] : ordered) values.push_back(a);
  values = io::arrays_to_write(std::move(values));
  for (size_t i = 0; i < ordered.size(); ++i) ordered[i].second = values[i];
  return ordered;
}

std::string header_text(const std::vector<std::pair<std::string, array>>& arrays,
                        const std::unordered_map<std::string, std::string>& metadata) {
  json header = json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  uint64_t offset = 0;
  for (const auto& [name, a] : arrays) {
    if (name == kMetadata)
      invalid_argument("save_safetensors",
                       std::string("No array can be called ") + kMetadata + ".");
    header[name] = {{"dtype", name_of_type(a.dtype())},
                    {"shape", a.shape()},
                    {"data_offsets", {offset, offset + a.nbytes()}}};
    offset += a.nbytes();
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception&) {
    invalid_argument("save_safetensors", "Names and metadata must be UTF-8.");
  }
  // Elements begin at a multiple of 8 bytes.
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  if (text.size() > kLongestHeader) {
    invalid_argument("save_safetensors",
                     message("The header would have ", text.size(), " bytes: at most ",
                             kLongestHeader, " are possible."));
  }
  return text;
}

void write_safetensors(io::Writer& writer, const std::string& header,
                       const std::vector<std::pair<std::string, array>>& arrays) {
  const uint64_t length = header.size();
  io::write_bytes(writer, &length, kLengthBytes);
  io::write_bytes(writer, header.data(), header.size());
  for (const auto& [name, a] : arrays) io::write_elements(writer, a);
}

}  // namespace

SafetensorsLoad load_safetensors(const std::shared_ptr<io::Reader>& file, StreamOrDevice s) {
  const io::Refusal refuse{"load_safetensors", file->label()};
  const io::Section section(file, refuse);
  HeaderReader header(section, refuse);
  SafetensorsLoad loaded;
  loaded.second = std::move(header.metadata);
  for (Entry& entry : header.entries) {
    array a = io::stored_array(section, header.elements_begin + entry.begin, std::move(entry.shape),
                               entry.dtype, false, to_stream(s, Device::cpu));
    loaded.first.emplace(std::move(entry.name), std::move(a));
  }
  return loaded;
}

SafetensorsLoad load_safetensors(const std::string& file, StreamOrDevice s) {
  return load_safetensors(io::open_to_read(file, "load_safetensors"), s);
}

void save_safetensors(const std::shared_ptr<io::Writer>& file,
                      const std::unordered_map<std::string, array>& arrays,
                      const std::unordered_map<std::string, std::string>& metadata) {
  const auto ordered = in_file_order(arrays);
  const std::string header = header_text(ordered, metadata);
  io::open_to_write(*file, "save_safetensors");
  write_safetensors(*file, header, ordered);
}

void save_safetensors(std::string file, const std::unordered_map<std::string, array>& arrays,
                      const std::unordered_map<std::string, std::string>& metadata) {
  const auto writer = std::make_shared<io::FileWriter>(
      io::with_extension(std::move(file), ".safetensors"), "save_safetensors");
  save_safetensors(writer, arrays, metadata);
  writer->close();
}

}  // namespace mlx::core
