// NumPy's format npy.
#include "mlx/io/npy.h"

#include <algorithm>
#include <cstring>

#include "mlx/io.h"
#include "mlx/io/npy_header.h"
#include "mlx/io/section.h"
#include "mlx/io/stored_array.h"
#include "mlx/ops.h"

namespace mlx::core {

namespace io {

namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kStart = 8;  // length in bytes of the magic string and the version

struct ElementType {
  Dtype dtype;
  bool swapped;
};

// Parses "<f4", ">f4", "=f4", "|u1". V2 is bfloat16, always in the machine's byte order.
ElementType element_type(const std::string& descr, const Refusal& refuse) {
  const bool ordered = !descr.empty() && std::strchr("<>=|", descr[0]) != nullptr;
  const std::string name = ordered ? descr.substr(1) : descr;
  try {
    const Dtype dtype = dtype_from_array_protocol("<" + name);
    return {dtype, descr[0] == '>' && dtype.size() > 1 && dtype != bfloat16};
  } catch (const std::invalid_argument&) {
    refuse("Elements of NumPy's type " + in_quotes(descr) + " are not supported.");
  }
}

// Where the elements begin, and the header before them.
std::pair<uint64_t, NpyHeader> read_header(const Section& file, const Refusal& refuse) {
  const uint64_t size = file.size();
  unsigned char start[kStart + 4] = {};
  if (size < kStart + 2) refuse("The file is too short for the format npy.");
  file.read(start, kStart, 0);
  if (std::memcmp(start, kMagic, std::strlen(kMagic)) != 0)
    refuse("This is not a file in the format npy.");
  const int version = start[6];
  if (version < 1 || version > 3 || start[7] != 0) {
    refuse(message("Version ", version, ".", static_cast<int>(start[7]),
                   " of the format npy is unknown: 1.0, 2.0 and 3.0 are supported."));
  }
  const size_t width = version == 1 ? 2 : 4;
  if (size < kStart + width) refuse("The file is too short for the format npy.");
  uint32_t length = 0;
  file.read(&length, width, kStart);
  const uint64_t begin = kStart + width;
  if (length > size - begin) {
    refuse(message("The header is said to have ", static_cast<size_t>(length), " bytes, but ",
                   size - begin, " are there."));
  }
  std::string text(length, '\0');
  file.read(text.data(), length, begin);
  return {begin + length, parse_npy_header(text, refuse)};
}

}  // namespace

array read_npy(const Section& file, const Refusal& refuse, const Stream& s) {
  auto [begin, header] = read_header(file, refuse);
  const auto [dtype, swapped] = element_type(header.descr, refuse);
  if (header.fortran_order) std::reverse(header.shape.begin(), header.shape.end());
  Shape shape = checked_shape(header.shape, dtype, file.size() - begin, refuse);
  array a = stored_array(file, begin, std::move(shape), dtype, swapped, s);
  return header.fortran_order ? transpose(a, s) : a;
}

std::string npy_header(const array& a) {
  std::string text =
      "{'descr': '" + dtype_to_array_protocol(a.dtype()) + "', 'fortran_order': False, 'shape': (";
  for (int extent : a.shape()) text += std::to_string(extent) + ", ";
  // A tuple of one number keeps its comma.
  if (a.ndim() > 1) text.resize(text.size() - 2);
  if (a.ndim() == 1) text.pop_back();
  text += "), }";
  // Elements begin at a multiple of 64 bytes, after a newline.
  constexpr size_t kAlignment = 64, kShortest = kStart + 2;
  const bool wide = text.size() + kAlignment > UINT16_MAX;
  const size_t before = wide ? kShortest + 2 : kShortest;
  text.append(kAlignment - 1 - (before + text.size()) % kAlignment, ' ');
  text += '\n';
  const auto length = static_cast<uint32_t>(text.size());
  std::string start = kMagic;
  start += wide ? '\x02' : '\x01';
  start += '\0';
  start.append(reinterpret_cast<const char*>(&length), before - kStart);
  return start + text;
}

}  // namespace io

namespace {

void write_npy(io::Writer& writer, const array& a) {
  const std::string header = io::npy_header(a);
  io::write_bytes(writer, header.data(), header.size());
  io::write_elements(writer, a);
}

}  // namespace

void save(const std::shared_ptr<io::Writer>& file, array a) {
  const array ready = io::arrays_to_write({std::move(a)})[0];
  io::open_to_write(*file, "save");
  write_npy(*file, ready);
}

void save(std::string file, array a) {
  const auto writer = std::make_shared<io::FileWriter>(io::with_extension(std::move(file), ".npy"));
  save(writer, std::move(a));
  writer->close();
}

array load(const std::shared_ptr<io::Reader>& file, StreamOrDevice s) {
  const io::Refusal refuse{"load", file->label()};
  return io::read_npy(io::Section(file, refuse), refuse, to_stream(s, Device::cpu));
}

array load(const std::string& file, StreamOrDevice s) {
  return load(io::open_to_read(file, "load"), s);
}

}  // namespace mlx::core
