// The processor that code is generated for: the one at hand, or that of MLX_CPU_TARGET.
#pragma once

#include <cstdlib>
#include <string>

namespace metal::cpu {

inline constexpr const char* kProcessorVariable = "MLX_CPU_TARGET";

// The variable's value, or "native".
inline std::string wanted_processor() {
  const char* value = std::getenv(kProcessorVariable);
  return value && *value ? value : "native";
}

struct Processor {
  std::string name;      // as LLVM calls it
  std::string features;  // "+avx2,-avx512f,..."
  std::string missing;   // features among them that this machine lacks, with commas
};

// Throws std::invalid_argument if MLX_CPU_TARGET names none.
const Processor& target_processor();

// Throws CompileError if this machine cannot run code for target_processor().
void require_runnable();

}  // namespace metal::cpu
