#include "metal/cpu/runtime/source_lines.h"

#include <cstdlib>
#include <sstream>

namespace metal::cpu {

std::map<uint32_t, std::string> lines_of(const std::string& source, const std::string& file) {
  std::istringstream lines(source);
  std::string text, current = "kernel.metal";
  uint32_t number = 1;
  std::map<uint32_t, std::string> found;
  while (std::getline(lines, text)) {
    const size_t quote = text.find('"');
    if (text.starts_with("#line ") && quote != std::string::npos) {
      number = static_cast<uint32_t>(std::strtoul(text.c_str() + 6, nullptr, 10));
      current.clear();
      for (size_t i = quote + 1; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
        current += text[i];
      }
      continue;
    }
    if (current == file) found.try_emplace(number, text);
    ++number;
  }
  return found;
}

}  // namespace metal::cpu
