#include "metal/cpu/runtime/schedule.h"

#include <numeric>

namespace metal::cpu {

// SplitMix64: any state is a good one.
uint64_t Schedule::next() {
  state_ += 0x9e3779b97f4a7c15;
  uint64_t bits = state_;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return bits ^ bits >> 31;
}

uint64_t Schedule::choose(uint64_t count) {
  if (number_ == 1) return count - 1;
  return static_cast<uint64_t>(static_cast<__uint128_t>(next()) * count >> 64);
}

void Schedule::start_threadgroup(const uint32_t (&position)[3]) {
  state_ = number_;
  for (uint32_t coordinate : position) state_ = next() ^ coordinate;
}

std::vector<uint64_t> Schedule::order(uint64_t count) {
  std::vector<uint64_t> rest(count), order;
  std::iota(rest.begin(), rest.end(), 0);
  order.reserve(count);
  while (!rest.empty()) {
    uint64_t& chosen = rest[choose(rest.size())];
    order.push_back(chosen);
    chosen = rest.back();
    rest.pop_back();
  }
  return order;
}

}  // namespace metal::cpu
