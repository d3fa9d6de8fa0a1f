#include "metal/cpu/runtime/element_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string_view>

namespace metal::cpu {
namespace {

constexpr uint32_t kMaxBytes = 16;  // that are shown of an element of unknown type

// An IEEE number of 16 bits.
double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int digits = bits & 1023;
  double value = exponent ? std::ldexp(1024 + digits, exponent - 25) : std::ldexp(digits, -24);
  if (exponent == 31) {
    value =
        digits ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  }
  return bits >> 15 ? -value : value;
}

template <class T>
T read(const char* place) {
  T value;
  std::memcpy(&value, place, sizeof(value));
  return value;
}

// The bits of a number of this size.
uint64_t read_bits(const char* place, uint32_t bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, place, bytes);
  return bits;
}

}  // namespace

ElementNumbers::ElementNumbers(const ArgumentInfo& buffer) {
  static constexpr struct {
    std::string_view name;
    Kind kind;
    uint32_t bytes;
  } kTypes[] = {
      {"float", Kind::Float, 4},   {"half", Kind::Half, 2},       {"bfloat", Kind::BFloat, 2},
      {"bool", Kind::Unsigned, 1}, {"char", Kind::Signed, 1},     {"uchar", Kind::Unsigned, 1},
      {"short", Kind::Signed, 2},  {"ushort", Kind::Unsigned, 2}, {"int", Kind::Signed, 4},
      {"uint", Kind::Unsigned, 4}, {"long", Kind::Signed, 8},     {"ulong", Kind::Unsigned, 8}};
  std::string_view name = buffer.element_type;
  const auto drop_front = [&](std::string_view prefix) {
    const bool there = name.starts_with(prefix);
    if (there) name.remove_prefix(prefix.size());
    return there;
  };
  if (drop_front("atomic<") && name.ends_with('>')) name.remove_suffix(1);
  drop_front("packed_");
  while (!name.empty() && name.back() >= '2' && name.back() <= '4') name.remove_suffix(1);
  for (const auto& type : kTypes) {
    if (name != type.name || buffer.element_size % type.bytes) continue;
    kind_ = type.kind;
    bytes_ = type.bytes;
  }
  count_ = std::max(buffer.element_size, bytes_) / bytes_;
}

double ElementNumbers::epsilon() const {
  switch (kind_) {
    case Kind::Half:
      return 0x1p-10;
    case Kind::BFloat:
      return 0x1p-7;
    default:
      return std::numeric_limits<float>::epsilon();
  }
}

double ElementNumbers::value(const char* number) const {
  if (kind_ == Kind::Float) return static_cast<double>(read<float>(number));
  if (kind_ == Kind::Half) return half_value(read<uint16_t>(number));
  const uint32_t bits = uint32_t{read<uint16_t>(number)} << 16;
  return static_cast<double>(read<float>(reinterpret_cast<const char*>(&bits)));
}

std::string ElementNumbers::number_text(const char* number) const {
  char text[32];
  if (floats()) {
    std::snprintf(text, sizeof(text), "%.*g", single() ? 9 : 5, value(number));
    return text;
  }
  const uint64_t bits = read_bits(number, bytes_);
  if (kind_ == Kind::Unsigned) return std::to_string(bits);
  const uint32_t unused = 64 - 8 * bytes_;
  return std::to_string(static_cast<int64_t>(bits << unused) >> unused);
}

std::string ElementNumbers::text(const char* element) const {
  std::string text;
  if (kind_ == Kind::Unknown) {
    text = "0x";
    for (uint32_t i = 0; i < std::min(count_, kMaxBytes); ++i) {
      char digits[4];
      std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned char>(element[i]));
      text += digits;
    }
    return text + (count_ > kMaxBytes ? "..." : "");
  }
  for (uint32_t i = 0; i < count_; ++i)
    text += (i ? ", " : "") + number_text(element + size_t{i} * bytes_);
  return count_ > 1 ? "(" + text + ")" : text;
}

}  // namespace metal::cpu
