// The threads that take part in work on all cores, and the cores on which they run.
#pragma once

namespace metal::cpu {

// While it exists, this thread takes part in work on all cores. These objects can nest, as a thread
// that waits may take part in other work.
class HelperScope {
 public:
  HelperScope();
  ~HelperScope();
  HelperScope(const HelperScope&) = delete;
  HelperScope& operator=(const HelperScope&) = delete;

 private:
  const int before_;  // the core, if the thread took part already
};

// Moves threads that should take part and have not started to cores that no other such thread uses.
// Linux may wake a thread on the core of the thread that wakes it although other cores are idle,
// above all in virtual machines, where halted cores look busy. It corrects that only milliseconds
// later.
void move_late_helpers();

}  // namespace metal::cpu
