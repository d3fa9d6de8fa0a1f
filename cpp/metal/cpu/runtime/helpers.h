// The threads that take part in work on all cores, and the cores on which they run.
#pragma once

namespace metal::cpu {

// Says that this thread helps, while it exists; one that waits in the middle may help someone else.
class Helping {
 public:
  Helping();
  ~Helping();
  Helping(const Helping&) = delete;
  Helping& operator=(const Helping&) = delete;

 private:
  const int before_;  // the core, if it helped already
};

// Moves threads that were called to help and do not yet to cores where none of us runs. Linux may
// wake a thread on the core of the one that calls it although others are idle, in a virtual machine
// above all, whose halted cores look taken; it looks again only milliseconds later.
void move_late_helpers();

}  // namespace metal::cpu
