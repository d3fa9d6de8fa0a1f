// The messages of kernels (os_log): their format and their values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "metal/api.h"

namespace metal {

// What the standard library says of a value (metal_logging). Of integers, this plus the logarithm
// of their bytes.
enum class MessageKind : uint64_t { Float = 1, Text = 2, Pointer = 3, Signed = 4, Unsigned = 8 };

inline constexpr int kMaxMessageText = 4096;  // characters of a text among the values

struct MessageValue {
  uint64_t kind;
  uint64_t bits;  // of a float, a pointer, or an integer that was extended
};

// A conversion such as "%-5.2f" or "%v4f".
struct MessageConversion {
  std::string spelling;
  std::string flags;
  int width = 0;
  int precision = -1;  // -1 if there is none
  int elements = 0;    // of a vector; 0 for a scalar
  std::string length;
  char letter = 0;  // 0 where the text ends
};

// Takes the text up to the next conversion from `text`, and puts it behind `before`. False if none
// follows. "%%" is text.
METAL_API bool next_conversion(std::string_view& text, std::string& before,
                               MessageConversion& conversion);

// As printf prints it. A value decides what it is, whatever the conversion says; "?" is in the
// place of one that is missing.
std::string format_message(std::string_view text, std::span<const MessageValue> values);

}  // namespace metal
