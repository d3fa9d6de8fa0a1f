#include "metal/message.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <vector>

namespace metal {
namespace {

constexpr int kMaxWidth = 512;  // printf would print any number of blanks

std::string take(std::string_view& text, std::string_view letters) {
  const size_t end = std::min(text.find_first_not_of(letters), text.size());
  std::string part(text.substr(0, end));
  text.remove_prefix(end);
  return part;
}

int take_number(std::string_view& text) {
  const std::string digits = take(text, "0123456789");
  int number = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return result.ec == std::errc::result_out_of_range ? kMaxWidth : std::min(number, kMaxWidth);
}

MessageConversion take_conversion(std::string_view& text) {
  const std::string_view start = text;
  MessageConversion c;
  text.remove_prefix(1);
  c.flags = take(text, "-+ #0");
  c.width = take_number(text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    c.precision = take_number(text);
  }
  if (text.starts_with('v')) {
    text.remove_prefix(1);
    c.elements = take_number(text);
  }
  c.length = take(text, "hljztL");
  if (!text.empty()) {
    c.letter = text.front();
    text.remove_prefix(1);
  }
  c.spelling = start.substr(0, start.size() - text.size());
  return c;
}

template <class T>
std::string print(const MessageConversion& c, const std::string& ending, T value) {
  const bool precise = c.precision >= 0;
  const std::string format = "%" + c.flags + (c.width ? "*" : "") + (precise ? ".*" : "") + ending;
  std::vector<char> text(2 * kMaxWidth + kMaxMessageText);
  const auto write = [&](auto... sizes) {
    return std::snprintf(text.data(), text.size(), format.c_str(), sizes..., value);
  };
  const int length = c.width ? (precise ? write(c.width, c.precision) : write(c.width))
                             : (precise ? write(c.precision) : write());
  return {text.data(),
          std::clamp<size_t>(static_cast<size_t>(std::max(length, 0)), 0, text.size() - 1)};
}

std::string print_integer(const MessageConversion& c, const MessageValue& value) {
  const bool is_signed = value.kind < static_cast<uint64_t>(MessageKind::Unsigned);
  const uint64_t bytes = uint64_t{1} << (value.kind & 3);
  const uint64_t mask = bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * bytes) - 1;
  const unsigned long long bits = value.bits & mask;
  if (c.letter == 'c') return print(c, "c", static_cast<int>(bits & 255));
  if (c.letter == 'o' || c.letter == 'x' || c.letter == 'X')
    return print(c, std::string("ll") + c.letter, bits);
  // "%u" of a negative number shows what its bits are without a sign.
  if (is_signed && c.letter != 'u') return print(c, "lld", static_cast<long long>(value.bits));
  return print(c, "llu", bits);
}

std::string print_text(MessageConversion c, const char* text) {
  if (!text) text = "(null)";
  if (c.precision < 0 || c.precision > kMaxMessageText) c.precision = kMaxMessageText;
  return print(c, "s", text);
}

std::string print_value(const MessageConversion& c, const MessageValue& value) {
  switch (static_cast<MessageKind>(value.kind)) {
    case MessageKind::Float: {
      const bool fits = std::string_view("aAeEfFgG").find(c.letter) != std::string_view::npos;
      const double number = std::bit_cast<float>(static_cast<uint32_t>(value.bits));
      return print(c, fits ? std::string(1, c.letter) : "g", number);
    }
    case MessageKind::Text:
      return print_text(c, std::bit_cast<const char*>(value.bits));
    case MessageKind::Pointer:
      return print(c, "p", std::bit_cast<const void*>(value.bits));
    default:
      return print_integer(c, value);
  }
}

}  // namespace

bool next_conversion(std::string_view& text, std::string& before, MessageConversion& conversion) {
  while (!text.empty()) {
    const size_t percent = std::min(text.find('%'), text.size());
    before += text.substr(0, percent);
    text.remove_prefix(percent);
    if (text.empty()) return false;
    if (!text.starts_with("%%")) {
      conversion = take_conversion(text);
      return true;
    }
    before += '%';
    text.remove_prefix(2);
  }
  return false;
}

std::string format_message(std::string_view text, std::span<const MessageValue> values) {
  std::string result;
  MessageConversion c;
  while (next_conversion(text, result, c)) {
    for (int i = 0; i < std::max(c.elements, 1); ++i) {
      if (i) result += ',';
      if (values.empty()) {
        result += '?';
        break;
      }
      result += print_value(c, values.front());
      values = values.subspan(1);
    }
  }
  return result;
}

}  // namespace metal
