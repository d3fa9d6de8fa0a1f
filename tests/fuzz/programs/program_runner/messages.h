// The generator's requests and their answers, as bytes on standard input and output.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "metal/compiler/compiler.h"

namespace metal::fuzz {

// The comparison of a buffer's elements.
enum class Comparison : uint32_t { Bits, Float, Half, BFloat };

struct BufferRequest {
  Comparison comparison = Comparison::Bits;
  double tolerance = 0;  // relative, of floats
  uint32_t offset = 0;   // bytes from the start of its memory to where it is bound
  std::string bytes;     // contents before the launch
};

struct ProgramRequest {
  std::string name;    // of the kernel
  std::string source;  // without includes
  uint32_t grid[3];
  uint32_t threadgroup[3];
  std::vector<BufferRequest> buffers;        // by index
  std::vector<uint32_t> threadgroup_memory;  // bytes, by index
  ConstantValues constants;
  std::string expected;  // what the launch leaves in memory; if empty, what the first form leaves
};

// A form in which programs run: "reference", the name of a processor, or "cuda".
using Form = std::string;

struct Request {
  bool wants_memory;
  std::vector<Form> forms;  // the others are compared with the first one
  std::vector<ProgramRequest> programs;
};

enum class Outcome : uint32_t { Same, Differs, LaunchFails, CompilerFails, Crashes, Hangs };

struct FormReply {
  Outcome outcome = Outcome::Same;
  std::string message;
  std::string why_scalar;  // why there is no vector code
};

struct ProgramReply {
  std::string front_end;  // its error, if any; then nothing was run
  std::vector<FormReply> forms;
  std::string memory;  // what the first form leaves there, if that is wanted
};

// Returns false at the end of the input. Throws std::runtime_error for a damaged request.
bool read_request(Request& request);
void write_replies(const std::vector<ProgramReply>& replies);

}  // namespace metal::fuzz
