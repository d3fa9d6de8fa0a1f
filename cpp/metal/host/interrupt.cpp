// Ends all running and all committed work.
#include <atomic>
#include <cstdint>

#include "metal/driver.h"

namespace metal {
namespace {

std::atomic<uint64_t> count{0};

}  // namespace

uint64_t interrupt_count() { return count.load(); }

void interrupt() {
  ++count;
  default_driver().interrupt();
}

}  // namespace metal
