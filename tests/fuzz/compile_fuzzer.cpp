// libFuzzer's entry: any bytes are a source. The compiler may reject them, but must not crash. For
// accepted sources code is generated, scalar and as vectors in several layouts.
//
// Crashes inside Clang and LLVM are caught and end in an error as well; they are printed with the
// source, because each one leaks and may leave the library in a bad state.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "metal/compiler/compiler.h"
#include "metal/cpu/runtime/jit.h"

namespace {

// With 32 threads in a row, with rows that vectors do not divide, and with few threads.
constexpr uint32_t kThreadgroups[][3] = {{64, 2, 1}, {40, 1, 1}, {3, 3, 1}};

void generate_code(const metal::Program& program, const std::string& name) {
  metal::cpu::load_cpu_kernel(program, name, {}, metal::cpu::CodeMode::Reference)
      ->code_for(kThreadgroups[0], 64, {});
  const auto kernel = metal::cpu::load_cpu_kernel(program, name, {}, metal::cpu::CodeMode::Vector);
  for (const auto& threadgroup : kThreadgroups)
    kernel->code_for(threadgroup, threadgroup[0], {true, true});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string source(reinterpret_cast<const char*>(data), size);
  try {
    const auto program = metal::compile(source);
    for (const auto& function : program->functions) generate_code(*program, function.name);
  } catch (const metal::CompileError& error) {
    if (std::strstr(error.what(), "the compiler failed on this source"))
      std::fprintf(stderr, "==== caught a crash of the compiler ====\n%s\n====\n", source.c_str());
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
