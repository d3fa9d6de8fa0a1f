// Watches the dispatches that run, and ends those that are interrupted or take too long.
#pragma once

#include <cstdint>

namespace metal::cpu {

class Dispatch;

// Watches a dispatch while the object exists. A limit of 0 seconds means no limit. The dispatch is
// stopped at once if there have been more interrupts than `interrupts_before`.
class Monitored {
 public:
  Monitored(Dispatch& dispatch, double time_limit, uint64_t interrupts_before);
  ~Monitored();
  Monitored(const Monitored&) = delete;
  Monitored& operator=(const Monitored&) = delete;

 private:
  const Dispatch& dispatch_;
};

// Ends every dispatch that runs now.
void interrupt_dispatches();

}  // namespace metal::cpu
