// The lines of machine code in memory, for profiles.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace metal::cpu {

// Remembers an object file with line tables whose code begins at this address, with the function of
// this name.
void remember_code(std::string_view object, std::string_view symbol, const void* address);

struct CodeLine {
  std::string file;
  uint32_t line = 0;  // 0 where it is not known
};

// Of an address in code that is remembered.
CodeLine line_at(uint64_t address);

}  // namespace metal::cpu
