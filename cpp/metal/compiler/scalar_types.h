// The scalar types of Metal.
#pragma once

#include <cstddef>
#include <cstdint>

namespace metal {

enum class ScalarType : uint32_t {
  Bool,
  Char,
  UChar,
  Short,
  UShort,
  Int,
  UInt,
  Long,
  ULong,
  Half,
  BFloat,
  Float
};

struct ScalarInfo {
  const char* name;
  uint32_t bytes;
};

// By their numbers.
inline constexpr ScalarInfo kScalarTypes[] = {
    {"bool", 1}, {"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"int", 4},
    {"uint", 4}, {"long", 8}, {"ulong", 8}, {"half", 2},  {"bfloat", 2}, {"float", 4},
};

constexpr const ScalarInfo& info_of(ScalarType type) {
  return kScalarTypes[static_cast<size_t>(type)];
}

}  // namespace metal
