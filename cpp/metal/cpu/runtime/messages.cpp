#include "metal/cpu/runtime/messages.h"

#include <bit>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "metal/cpu/runtime/dispatch.h"
#include "metal/cpu/runtime/outside_kernel.h"
#include "metal/cpu/runtime/worker.h"
#include "metal/message.h"

namespace metal::cpu {
namespace {

// The variable is Metal's own.
uint64_t limit() {
  static const uint64_t bytes = [] {
    uint64_t value = uint64_t{1} << 20;
    if (const char* text = std::getenv("MTL_LOG_BUFFER_SIZE"))
      std::from_chars(text, text + std::strlen(text), value);
    return value;
  }();
  return bytes;
}

const char* name_of(uint32_t type) {
  switch (type) {
    case 1:
      return " info";
    case 2:
      return " debug";
    case 16:
      return " error";
    case 17:
      return " fault";
    default:
      return "";
  }
}

}  // namespace

void Messages::add(const std::string& line) {
  const std::string whole = "[" + kernel_ + "] " + line + (line.ends_with('\n') ? "" : "\n");
  const std::lock_guard lock(mutex_);
  bytes_ += whole.size();
  if (bytes_ > limit()) {
    ++dropped_;
  } else if (held_) {
    text_ += whole;
  } else {
    print(whole);
  }
}

void Messages::print_held() {
  held_ = false;
  print(text_);
  end();
}

void Messages::end() {
  if (held_ || !dropped_) return;
  print("[" + kernel_ + "] " + std::to_string(dropped_) +
        (dropped_ == 1 ? " message was" : " messages were") +
        " dropped, as those of a launch had " + std::to_string(bytes_) + " bytes of " +
        std::to_string(limit()) + " (MTL_LOG_BUFFER_SIZE)\n");
  dropped_ = 0;
}

void Messages::print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace metal::cpu

extern "C" {

void metal_cpu_log(uint32_t type, const char* subsystem, const char* category, const char* text,
                   uint32_t x, uint32_t y, uint32_t z, uint32_t count, ...) {
  // A text that cannot be read stops the kernel here, where nothing has to be cleaned up.
  va_list list;
  va_start(list, count);
  for (uint32_t i = 0; i < count; ++i) {
    const auto kind = static_cast<metal::MessageKind>(va_arg(list, uint64_t));
    const uint64_t bits = va_arg(list, uint64_t);
    if (kind != metal::MessageKind::Text || !bits) continue;
    const volatile size_t length =
        strnlen(std::bit_cast<const char*>(bits), metal::kMaxMessageText);
    (void)length;
  }
  va_end(list);

  const metal::cpu::OutsideKernel outside(metal::cpu::Worker::current());
  std::vector<metal::MessageValue> values(count);
  va_start(list, count);
  for (metal::MessageValue& value : values) {
    value.kind = va_arg(list, uint64_t);
    value.bits = va_arg(list, uint64_t);
  }
  va_end(list);
  std::string line =
      "thread (" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
  if (subsystem) line += std::string(" ") + subsystem + "/" + category;
  line += std::string(metal::cpu::name_of(type)) + ": " + metal::format_message(text, values);
  outside.worker().dispatch()->messages().add(line);
}
}
