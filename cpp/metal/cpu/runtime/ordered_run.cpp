#include "metal/cpu/runtime/ordered_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace metal::cpu {

// Each order is off by no more than this times half an epsilon, and two orders are compared.
double RoundingBounds::Sum::bound() const {
  return static_cast<double>(addends) * magnitude * std::numeric_limits<float>::epsilon();
}

void RoundingBounds::add(const float* place, float addend, bool shared) {
  any_ = true;
  Sum& sum = (shared ? threadgroup_ : device_)[place];
  if (!sum.addends++) sum.magnitude = std::fabs(static_cast<double>(*place));
  sum.magnitude += std::fabs(static_cast<double>(addend));
  largest_ = std::max(largest_, sum.bound());
}

void RoundingBounds::start_threadgroup() { threadgroup_.clear(); }

double RoundingBounds::bound(const float* place) const {
  const auto found = device_.find(place);
  return found == device_.end() ? largest_ : found->second.bound();
}

}  // namespace metal::cpu
