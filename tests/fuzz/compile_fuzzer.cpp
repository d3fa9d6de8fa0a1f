// libFuzzer's entry: any bytes are a source. The compiler may refuse them, and must live on.
#include <cstddef>
#include <cstdint>
#include <string>

#include "metal/compiler/compiler.h"
#include "metal/cpu/jit.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string source(reinterpret_cast<const char*>(data), size);
  try {
    const auto program = metal::compile(source);
    for (const auto& function : program->functions)
      metal::cpu::load_cpu_kernel(*program, function.name, {}, true);
  } catch (const metal::CompileError&) {
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
