// Facts about this machine.
#pragma once

#include <cstdint>
#include <string>

namespace metal::cpu {

// The processor's marketing name, or its architecture if the name is not known.
std::string processor_name();

std::string architecture();  // "x86_64", ...

uint64_t physical_memory();  // bytes that this process may use

uint64_t page_size();
constexpr uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
uint64_t second_level_cache();  // bytes of a core's
uint64_t last_level_cache();    // bytes

}  // namespace metal::cpu
