#include "metal/cpu/runtime/object_file.h"

#include <algorithm>
#include <cstring>

#include "metal/cpu/runtime/load_error.h"

namespace metal::cpu {
namespace {

std::string_view part(std::string_view bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset)
    refuse_code("the object file is cut short");
  return bytes.substr(offset, size);
}

template <typename T>
T read(std::string_view bytes, uint64_t offset) {
  T value;
  std::ranges::copy(part(bytes, offset, sizeof(T)), reinterpret_cast<char*>(&value));
  return value;
}

template <typename T>
std::vector<T> read_table(std::string_view bytes) {
  std::vector<T> rows(bytes.size() / sizeof(T));
  std::ranges::copy(bytes.substr(0, rows.size() * sizeof(T)), reinterpret_cast<char*>(rows.data()));
  return rows;
}

std::string_view name_at(std::string_view names, uint64_t offset) {
  const std::string_view rest = part(names, offset, names.size() - std::min(offset, names.size()));
  return rest.substr(0, rest.find('\0'));
}

const ObjectSection& section_at(const ObjectFile& file, uint64_t index) {
  if (index >= file.sections.size()) refuse_code("the object file has no such section");
  return file.sections[index];
}

void read_symbols(ObjectFile& file, const ObjectSection& table) {
  const std::string_view names = section_at(file, table.header.sh_link).contents;
  for (const Elf64_Sym& symbol : read_table<Elf64_Sym>(table.contents))
    file.symbols.push_back({name_at(names, symbol.st_name), symbol.st_shndx, symbol.st_value});
}

void read_relocations(ObjectFile& file, const ObjectSection& table) {
  const uint32_t section = table.header.sh_info;
  if (!is_loaded(section_at(file, section))) return;
  for (const Elf64_Rela& row : read_table<Elf64_Rela>(table.contents)) {
    file.relocations.push_back({section, row.r_offset, uint32_t(ELF64_R_TYPE(row.r_info)),
                                uint32_t(ELF64_R_SYM(row.r_info)), row.r_addend});
  }
}

}  // namespace

ObjectFile::ObjectFile(std::string_view bytes) {
  const auto header = read<Elf64_Ehdr>(bytes, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_REL ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    refuse_code("it is no object file");
  }
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = read<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
    const uint64_t size = section.sh_type == SHT_NOBITS ? 0 : section.sh_size;
    sections.push_back({section, part(bytes, section.sh_offset, size)});
  }
  for (const ObjectSection& section : sections) {
    if (section.header.sh_type == SHT_SYMTAB) read_symbols(*this, section);
    if (section.header.sh_type == SHT_RELA) read_relocations(*this, section);
  }
}

}  // namespace metal::cpu
