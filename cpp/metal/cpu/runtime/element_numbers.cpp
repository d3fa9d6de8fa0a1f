#include "metal/cpu/runtime/element_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
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

bool is_unsigned(ScalarType type) {
  return type == ScalarType::Bool || type == ScalarType::UChar || type == ScalarType::UShort ||
         type == ScalarType::UInt || type == ScalarType::ULong;
}

}  // namespace

ElementNumbers::ElementNumbers(const ArgumentInfo& buffer) {
  std::string_view name = buffer.element_type;
  const auto drop_front = [&](std::string_view prefix) {
    const bool there = name.starts_with(prefix);
    if (there) name.remove_prefix(prefix.size());
    return there;
  };
  if (drop_front("atomic<") && name.ends_with('>')) name.remove_suffix(1);
  drop_front("packed_");
  while (!name.empty() && name.back() >= '2' && name.back() <= '4') name.remove_suffix(1);
  const auto* known = std::ranges::find(kScalarTypes, name, &ScalarInfo::name);
  if (known != std::end(kScalarTypes) && buffer.element_size % known->bytes == 0) {
    type_ = static_cast<ScalarType>(known - kScalarTypes);
    bytes_ = known->bytes;
  }
  count_ = std::max(buffer.element_size, bytes_) / bytes_;
}

double ElementNumbers::epsilon() const {
  if (type_ == ScalarType::Half) return 0x1p-10;
  if (type_ == ScalarType::BFloat) return 0x1p-7;
  return std::numeric_limits<float>::epsilon();
}

double ElementNumbers::value(const char* number) const {
  if (single()) return static_cast<double>(read<float>(number));
  if (type_ == ScalarType::Half) return half_value(read<uint16_t>(number));
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
  if (is_unsigned(*type_)) return std::to_string(bits);
  const uint32_t unused = 64 - 8 * bytes_;
  return std::to_string(static_cast<int64_t>(bits << unused) >> unused);
}

std::string ElementNumbers::text(const char* element) const {
  std::string text;
  if (!type_) {
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
