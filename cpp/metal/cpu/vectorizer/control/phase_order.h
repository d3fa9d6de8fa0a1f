// Whether it matters in which order gangs run a phase.
#pragma once

namespace metal::cpu {

class Phases;
struct Phase;

// Whether no gang reads or overwrites what another gang writes in the phase, also if the kernel
// lacks a barrier: it only writes to the gang's own memory, or by operations in threadgroup memory
// that commute, such as atomic additions whose result is unused, and does not read that memory
// otherwise. Their code is marked (kCommuting); where marks got lost, the answer is no.
bool runs_in_any_order(const Phases& phases, const Phase& phase);

}  // namespace metal::cpu
