// Kernel form to an object file for the CPU at hand.
#pragma once

#include <cstdint>
#include <string>

#include "metal/compiler/compiler.h"
#include "metal/cpu/abi.h"

namespace metal::cpu {

struct ObjectCode {
  std::string bytes;  // an ELF object that defines kernel_entry
  Granularity granularity = Granularity::Group;
  bool has_barriers = false;
  uint32_t static_threadgroup_memory = 0;
};

inline constexpr const char* kEntrySymbol = "kernel_entry";

ObjectCode generate_code(const FunctionInfo& function, const ConstantValues& constants,
                         bool reference);

// The same up to a stage, as text: "llvm-opt" (after the optimiser) or "asm".
std::string print_code(const FunctionInfo& function, std::string_view form);

// Names the processor, its features and this compiler: what code depends on besides its source.
std::string target_description();

}  // namespace metal::cpu
