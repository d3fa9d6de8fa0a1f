// libFuzzer's entry: any bytes are a source. The compiler may refuse them, and must live on.
//
// Crashes inside Clang and LLVM are caught and end in an error as well; they are printed with the
// source, because each one leaks and may leave the library in a bad state.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "metal/compiler/compiler.h"
#include "metal/cpu/jit.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string source(reinterpret_cast<const char*>(data), size);
  try {
    const auto program = metal::compile(source);
    for (const auto& function : program->functions)
      metal::cpu::load_cpu_kernel(*program, function.name, {}, true);
  } catch (const metal::CompileError& error) {
    if (std::strstr(error.what(), "the compiler failed on this source"))
      std::fprintf(stderr, "==== caught a crash of the compiler ====\n%s\n====\n", source.c_str());
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
