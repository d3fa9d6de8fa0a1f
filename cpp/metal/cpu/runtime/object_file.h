// Reads the object files that LLVM writes for kernels: ELF, relocatable, 64 bits, of this machine's
// byte order.
#pragma once

#include <elf.h>

#include <string_view>
#include <vector>

namespace metal::cpu {

struct ObjectSection {
  Elf64_Shdr header;
  std::string_view contents;  // empty if the file has none of it (SHT_NOBITS)
};

struct ObjectSymbol {
  std::string_view name;
  uint16_t section = SHN_UNDEF;
  uint64_t value = 0;  // from the start of the section
};

// How the bytes at `offset` of a section depend on where a symbol is in memory.
struct Relocation {
  uint32_t section = 0;
  uint64_t offset = 0;
  uint32_t type = 0;  // R_X86_64_* or R_AARCH64_*
  uint32_t symbol = 0;
  int64_t addend = 0;
};

struct ObjectFile {
  // Refers to `bytes`. Throws CompileError if they are no such file.
  explicit ObjectFile(std::string_view bytes);

  std::vector<ObjectSection> sections;
  std::vector<ObjectSymbol> symbols;
  std::vector<Relocation> relocations;  // of sections that are loaded
};

// Whether a process has the section in memory.
inline bool is_loaded(const ObjectSection& section) {
  return (section.header.sh_flags & SHF_ALLOC) != 0;
}

}  // namespace metal::cpu
