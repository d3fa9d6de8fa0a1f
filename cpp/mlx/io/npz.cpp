// NumPy's format npz: a zip archive of npy files.
#include <algorithm>

#include "mlx/errors.h"
#include "mlx/io.h"
#include "mlx/io/npy.h"
#include "mlx/io/section.h"
#include "mlx/io/stored_array.h"
#include "mlx/io/zip.h"

namespace mlx::core {

namespace {

constexpr std::string_view kNpy = ".npy";

std::string without_npy(const std::string& name) {
  return name.ends_with(kNpy) ? name.substr(0, name.size() - kNpy.size()) : name;
}

// The archive refers to the headers and to the memory of the arrays, so all are kept here.
void write_npz(const std::shared_ptr<io::Writer>& writer, const std::vector<std::string>& names,
               const std::vector<array>& arrays, bool compressed) {
  std::vector<std::string> headers;
  for (const array& a : arrays) headers.push_back(io::npy_header(a));
  std::vector<io::ZipContents> members;
  for (size_t i = 0; i < arrays.size(); ++i) {
    io::ZipContents member{names[i] + std::string(kNpy), {}};
    auto add = [&member](const char* data, size_t bytes) {
      auto* start = reinterpret_cast<zip_uint8_t*>(const_cast<char*>(data));
      if (bytes > 0) member.pieces.push_back({start, bytes});
    };
    add(headers[i].data(), headers[i].size());
    if (arrays[i].nbytes() > 0) add(arrays[i].data<char>(), arrays[i].nbytes());
    members.push_back(std::move(member));
  }
  io::write_zip(writer, members, compressed, {"savez", writer->label()});
}

// The names in alphabetic order, and their arrays.
std::pair<std::vector<std::string>, std::vector<array>> members_of(
    const std::unordered_map<std::string, array>& arrays) {
  std::vector<std::string> names;
  for (const auto& [name, a] : arrays) {
    if (name.find('\0') != name.npos)
      invalid_argument("savez", "A name cannot contain a zero byte.");
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  std::vector<array> ordered;
  for (const auto& name : names) ordered.push_back(arrays.at(name));
  return {std::move(names), io::arrays_to_write(std::move(ordered))};
}

}  // namespace

std::unordered_map<std::string, array> load_npz(const std::shared_ptr<io::Reader>& file,
                                                StreamOrDevice s) {
  const io::Refusal refuse{"load", file->label()};
  // An archive is found from the file's end, so it is the whole file.
  file->seek(0);
  io::ZipArchive archive(io::Section(file, refuse), refuse);
  std::unordered_map<std::string, array> arrays;
  for (size_t i = 0; i < archive.members().size(); ++i) {
    const std::string& name = archive.members()[i].name;
    const io::Refusal refuse_member{"load", refuse.label + ", member " + io::in_quotes(name)};
    const io::Section member(archive.open(i), refuse_member);
    array a = io::read_npy(member, refuse_member, to_stream(s, Device::cpu));
    if (!arrays.emplace(without_npy(name), std::move(a)).second)
      refuse("Two members are called " + io::in_quotes(name) + ".");
  }
  return arrays;
}

std::unordered_map<std::string, array> load_npz(const std::string& file, StreamOrDevice s) {
  return load_npz(io::open_to_read(file, "load", io::Unopened::InvalidArgument), s);
}

void save_npz(const std::shared_ptr<io::Writer>& file,
              const std::unordered_map<std::string, array>& arrays, bool compressed) {
  const auto [names, ready] = members_of(arrays);
  io::open_to_write(*file, "savez");
  write_npz(file, names, ready, compressed);
}

void save_npz(std::string file, const std::unordered_map<std::string, array>& arrays,
              bool compressed) {
  const auto writer =
      std::make_shared<io::FileWriter>(io::with_extension(std::move(file), ".npz"), "savez");
  save_npz(writer, arrays, compressed);
  writer->close();
}

}  // namespace mlx::core
