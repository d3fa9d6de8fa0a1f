// Results in shared memory: they survive if the process that runs the programs dies.
#pragma once

#include <cstdint>
#include <string>

#include "messages.h"

namespace metal::fuzz {

// Bytes around every buffer, to detect stray stores.
inline constexpr uint32_t kFence = 256;
inline constexpr char kFenceByte = '\x5a';

enum class State : uint32_t { Waits, Runs, Ends };

struct FormResult {
  State state;
  Outcome outcome;
  char message[1024];
  char why_scalar[256];
};

// The results of one form: one for every program, and the memory of its buffers.
class Results {
 public:
  explicit Results(const std::vector<ProgramRequest>& programs);
  ~Results();
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  FormResult& operator[](size_t program) const;
  char* buffers(size_t program) const { return memory_ + places_[program]; }
  size_t buffer_bytes(size_t program) const { return places_[program + 1] - places_[program]; }

 private:
  std::vector<size_t> places_;
  char* memory_;
};

// A buffer with the memory around it.
inline size_t memory_of(const BufferRequest& buffer) {
  return (buffer.offset + buffer.bytes.size() + 2 * kFence + 63) / 64 * 64;
}

// Describes the first difference; empty if there is none.
std::string compare(const ProgramRequest& program, const char* expected, const char* got);

}  // namespace metal::fuzz
