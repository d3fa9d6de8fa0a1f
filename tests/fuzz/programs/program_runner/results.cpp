#include "results.h"

#include <sys/mman.h>

#include <cmath>

namespace metal::fuzz {

Results::Results(const std::vector<ProgramRequest>& programs) {
  size_t place = programs.size() * sizeof(FormResult);
  for (const ProgramRequest& program : programs) {
    places_.push_back(place);
    for (const BufferRequest& buffer : program.buffers) place += memory_of(buffer);
  }
  places_.push_back(place);
  void* memory = mmap(nullptr, place, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no shared memory for results");
  memory_ = static_cast<char*>(memory);
}

Results::~Results() { munmap(memory_, places_.back()); }

FormResult& Results::operator[](size_t program) const {
  return reinterpret_cast<FormResult*>(memory_)[program];
}

namespace {

size_t element_size(Comparison comparison) {
  switch (comparison) {
    case Comparison::Bits:
    case Comparison::Float:
      return 4;
    case Comparison::Half:
    case Comparison::BFloat:
      return 2;
  }
  return 1;
}

double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) return fraction ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

double value_at(Comparison comparison, const char* at) {
  if (comparison == Comparison::Float) {
    float value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, at, sizeof(bits));
  if (comparison == Comparison::Half) return half_value(bits);
  const uint32_t wide = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

// Floats are the same if they are equal or both are NaN.
bool same(const BufferRequest& buffer, const char* a, const char* b, size_t size) {
  if (std::memcmp(a, b, size) == 0) return true;
  if (buffer.comparison == Comparison::Bits) return false;
  const double x = value_at(buffer.comparison, a), y = value_at(buffer.comparison, b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  return x == y || std::abs(x - y) <= buffer.tolerance * std::max(std::abs(x), std::abs(y));
}

std::string text_of(Comparison comparison, const char* at) {
  if (comparison != Comparison::Bits) return std::to_string(value_at(comparison, at));
  int32_t value;
  std::memcpy(&value, at, sizeof(value));
  return std::to_string(value);
}

}  // namespace

std::string compare(const ProgramRequest& program, const char* expected, const char* got) {
  std::string text;
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const BufferRequest& buffer = program.buffers[i];
    const size_t size = element_size(buffer.comparison), start = kFence + buffer.offset;
    size_t count = 0;
    for (size_t at = 0; at < memory_of(buffer); at += size) {
      if (same(buffer, expected + at, got + at, size)) continue;
      if (count++ != 0) continue;
      const bool inside = at >= start && at < start + buffer.bytes.size();
      text += "buffer " + std::to_string(i) + (inside ? "" : " OUTSIDE") + " word " +
              std::to_string((static_cast<int64_t>(at) - static_cast<int64_t>(start)) /
                             static_cast<int64_t>(size)) +
              ": " + text_of(buffer.comparison, got + at) + " instead of " +
              text_of(buffer.comparison, expected + at);
    }
    if (count > 1) text += " and " + std::to_string(count - 1) + " more";
    if (count > 0) text += "; ";
    expected += memory_of(buffer);
    got += memory_of(buffer);
  }
  return text;
}

}  // namespace metal::fuzz
