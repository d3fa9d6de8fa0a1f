#include "metal/cpu/runtime/access_pattern.h"

#include <algorithm>

#include "metal/cpu/abi.h"

namespace metal::cpu {
namespace {

constexpr double kUsualShare = 0.9;  // of the lanes

}  // namespace

void AccessPattern::start_threadgroup() {
  for (std::vector<Access>& accesses : last_) accesses.clear();
  std::ranges::fill(times_, 0);
}

void AccessPattern::add(uint32_t thread, uint64_t address, uint64_t bytes) {
  const uint32_t group = thread / kSimdWidth;
  if (times_.size() <= thread) times_.resize(thread + 1);
  if (last_.size() <= group) last_.resize(group + 1);
  bytes_ = bytes;
  const uint32_t time = times_[thread]++;
  if (time >= kMaxTimes) return;
  std::vector<Access>& last = last_[group];
  if (time >= last.size()) {
    last.push_back({thread, address});
    return;
  }
  const Access before = last[time];
  last[time] = {thread, address};
  if (before.thread >= thread) return;
  // Lanes between them may not have come here.
  const auto lanes = static_cast<int64_t>(thread - before.thread);
  const auto apart = static_cast<int64_t>(address - before.address);
  ++pairs_;
  if (apart % lanes == 0 &&
      (distances_.size() < kMaxDistances || distances_.contains(apart / lanes)))
    ++distances_[apart / lanes];
}

void AccessPattern::add(const AccessPattern& other) {
  bytes_ = other.bytes_;
  pairs_ += other.pairs_;
  for (const auto& [distance, count] : other.distances_) distances_[distance] += count;
}

std::optional<int64_t> AccessPattern::distance() const {
  const auto most =
      std::ranges::max_element(distances_, {}, [](const auto& entry) { return entry.second; });
  if (most == distances_.end()) return {};
  const bool usual = static_cast<double>(most->second) >= kUsualShare * static_cast<double>(pairs_);
  return usual ? std::optional(most->first) : std::nullopt;
}

}  // namespace metal::cpu
