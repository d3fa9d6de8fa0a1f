// The threads that help others to work on all cores, and the cores on which they run.
#pragma once

namespace metal::cpu {

// Says that this thread helps, while it exists.
class Helping {
 public:
  Helping();
  ~Helping();
  Helping(const Helping&) = delete;
  Helping& operator=(const Helping&) = delete;
};

// Where threads that have helped before do not help now, though they were called: they may wait for
// a core that this thread or a helper occupies while others are idle, as Linux prefers the core of
// who calls, a guest more so, and looks again milliseconds later. They move to another core.
void move_late_helpers();

}  // namespace metal::cpu
