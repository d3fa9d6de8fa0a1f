#include "metal/cpu/runtime/group_checks.h"

#include <algorithm>

namespace metal::cpu {

void GroupChecks::begin(const Group& group, Findings& findings, bool barriers) {
  group_ = &group;
  findings_ = &findings;
  barriers_ = barriers;
  threads_ = group.size[0] * group.size[1] * group.size[2];
  deferred_.clear();
  variables_.clear();
  kept_.clear();
  epochs_.assign(threads_, {});
  group_counts_.assign(threads_, 0);
  lane_counts_.assign(threads_, 0);
  all_ = {};
  lanes_.assign((threads_ + kSimdWidth - 1) / kSimdWidth, {});
  branches_.clear();
}

void GroupChecks::end() {
  if (!group_) return;
  compare_ends(all_, group_counts_, 0, threads_);
  for (uint32_t i = 0; i < lanes_.size(); ++i) {
    const uint32_t first = i * kSimdWidth;
    compare_ends(lanes_[i], lane_counts_, first, std::min(first + kSimdWidth, threads_));
  }
  group_ = nullptr;
}

uint32_t GroupChecks::defer(const Finding& finding) {
  if (deferred_.size() < kMaxDeferred) deferred_.push_back(finding);
  return static_cast<uint32_t>(deferred_.size());
}

uint32_t GroupChecks::defer_variable(const Finding& finding) {
  uint32_t& number = variables_[{finding.site, finding.object}];
  if (!number) number = defer(finding);
  return number;
}

uint32_t GroupChecks::kept_undefined(uint64_t address) const {
  const auto found = kept_.find(address);
  return found == kept_.end() ? 0 : found->second;
}

void GroupChecks::use(uint32_t number) { findings_->add(deferred_[number - 1]); }

void GroupChecks::barrier(uint32_t thread, const CheckSite* site, uint32_t scope, bool orders) {
  Epochs& epochs = epochs_[thread];
  if (scope == 0) {
    epochs.lanes += orders;
    arrive(lanes_[thread / kSimdWidth], thread, lane_counts_[thread]++, site);
  } else {
    epochs.group += orders;
    arrive(all_, thread, group_counts_[thread]++, site);
  }
}

void GroupChecks::branch(uint32_t thread, const CheckSite* site, uint32_t number,
                         uint64_t successor, bool reconverges) {
  if (branches_.size() <= number) branches_.resize(number + 1);
  Branch& branch = branches_[number];
  branch.site = site;
  branch.reconverges = reconverges;
  branch.paths.resize(threads_);
  branch.paths[thread] = branch.paths[thread] * 31 + successor + 1;
}

void GroupChecks::arrive(Arrivals& arrivals, uint32_t thread, uint32_t count,
                         const CheckSite* site) {
  if (!barriers_ || arrivals.diverged) return;
  if (count == arrivals.first.size()) {
    arrivals.first.push_back({site, thread, path_of(thread)});
  } else if (arrivals.first[count].site != site) {
    report(arrivals, arrivals.first[count], thread, site);
  }
}

// Threads that ended have reached all barriers, or fewer than the others. Nobody waits for those
// that returned early.
void GroupChecks::compare_ends(Arrivals& arrivals, const std::vector<uint32_t>& counts,
                               uint32_t first, uint32_t last) {
  for (uint32_t thread = first; thread < last && !arrivals.diverged; ++thread) {
    if (counts[thread] >= arrivals.first.size()) continue;
    const Arrival& arrival = arrivals.first[counts[thread]];
    if (!has_returned(arrival, thread)) report(arrivals, arrival, thread, nullptr);
  }
}

// One report for all threads: after the first barrier at which they diverge nothing is as it should
// be.
void GroupChecks::report(Arrivals& arrivals, const Arrival& arrival, uint32_t missing,
                         const CheckSite* instead) {
  arrivals.diverged = true;
  Finding finding{.kind = FindingKind::Barriers, .site = arrival.site};
  finding.position = position_of(*group_, arrival.thread);
  finding.more = std::string("waits at this ") + arrival.site->what + ", but thread " +
                 describe(position_of(*group_, missing));
  finding.more += instead ? " waits at another one" : " ends without it";
  if (instead && instead->line) finding.more += ", in line " + std::to_string(instead->line);
  const std::vector<const Branch*> branches = divergences(arrival, missing);
  if (!branches.empty()) {
    finding.other_site = branches.front()->site;
    finding.note = "they part at this branch";
  }
  findings_->add(finding);
}

std::vector<uint64_t> GroupChecks::path_of(uint32_t thread) const {
  std::vector<uint64_t> path;
  for (const Branch& branch : branches_) path.push_back(branch.site ? branch.paths[thread] : 0);
  return path;
}

// The branches, in the order of the code, at which their paths diverge.
std::vector<const GroupChecks::Branch*> GroupChecks::divergences(const Arrival& arrival,
                                                                 uint32_t missing) const {
  const std::vector<uint64_t> path = path_of(missing);
  std::vector<const Branch*> found;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] != (i < arrival.path.size() ? arrival.path[i] : 0)) found.push_back(&branches_[i]);
  }
  return found;
}

// At a branch whose one path leads to the end of the kernel and nowhere else.
bool GroupChecks::has_returned(const Arrival& arrival, uint32_t missing) const {
  return !std::ranges::all_of(divergences(arrival, missing), &Branch::reconverges);
}

}  // namespace metal::cpu
