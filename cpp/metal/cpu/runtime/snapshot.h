// What was in the memory that a kernel may write.
#pragma once

#include <cstdint>
#include <vector>

#include "metal/checks.h"
#include "metal/compiler/compiler.h"

namespace metal::cpu {

class Snapshot {
 public:
  // One buffer, as far as its argument reaches.
  struct Part {
    const ArgumentInfo* argument;
    char* begin;
    char* copy;
    uint64_t bytes;
  };

  // Copies it. Both arguments must outlive the snapshot.
  Snapshot(const FunctionInfo& kernel, const CheckedLaunch& launch);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  bool complete() const { return complete_; }  // there was memory for it
  void restore() const;
  const std::vector<Part>& parts() const { return parts_; }

 private:
  std::vector<Part> parts_;
  bool complete_ = true;
};

}  // namespace metal::cpu
