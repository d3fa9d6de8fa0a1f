// An object file in memory, ready to run.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace metal::cpu {

class CodeImage {
 public:
  // Returns the address of what the object file does not define, or null.
  using FindSymbol = std::function<const void*(std::string_view name)>;

  // `entry` is a symbol that the object file defines. Throws CompileError for files that it cannot
  // load.
  CodeImage(std::string_view object, std::string_view entry, const FindSymbol& find_symbol);
  ~CodeImage();
  CodeImage(const CodeImage&) = delete;
  CodeImage& operator=(const CodeImage&) = delete;

  void* entry() const { return entry_; }

 private:
  char* memory_ = nullptr;
  uint64_t bytes_ = 0;
  void* entry_ = nullptr;
};

}  // namespace metal::cpu
