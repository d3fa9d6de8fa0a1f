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
  if (deferred_.size() < kMostDeferred) deferred_.push_back(finding);
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
    come(lanes_[thread / kSimdWidth], thread, lane_counts_[thread]++, site);
  } else {
    epochs.group += orders;
    come(all_, thread, group_counts_[thread]++, site);
  }
}

void GroupChecks::branch(uint32_t thread, const CheckSite* site, uint32_t number, uint64_t way,
                         bool joins) {
  if (branches_.size() <= number) branches_.resize(number + 1);
  Branch& branch = branches_[number];
  branch.site = site;
  branch.joins = joins;
  branch.ways.resize(threads_);
  branch.ways[thread] = branch.ways[thread] * 31 + way + 1;
}

void GroupChecks::come(Meeting& meeting, uint32_t thread, uint32_t count, const CheckSite* site) {
  if (!barriers_ || meeting.parted) return;
  if (count == meeting.arrivals.size()) {
    meeting.arrivals.push_back({site, thread, ways_of(thread)});
  } else if (meeting.arrivals[count].site != site) {
    report(meeting, meeting.arrivals[count], thread, site);
  }
}

// Threads that ended have come to all barriers, or to fewer than the others. Nobody waits for those
// that returned early.
void GroupChecks::compare_ends(Meeting& meeting, const std::vector<uint32_t>& counts,
                               uint32_t first, uint32_t last) {
  for (uint32_t thread = first; thread < last && !meeting.parted; ++thread) {
    if (counts[thread] >= meeting.arrivals.size()) continue;
    const Arrival& arrival = meeting.arrivals[counts[thread]];
    if (!has_returned(arrival, thread)) report(meeting, arrival, thread, nullptr);
  }
}

// One report for all threads: after the first barrier that parts them nothing is as it should be.
void GroupChecks::report(Meeting& meeting, const Arrival& arrival, uint32_t missing,
                         const CheckSite* instead) {
  meeting.parted = true;
  Finding finding{.kind = FindingKind::Barriers, .site = arrival.site};
  finding.position = position_of(*group_, arrival.thread);
  finding.more = std::string("waits at this ") + arrival.site->what + ", but thread " +
                 describe(position_of(*group_, missing));
  finding.more += instead ? " waits at another one" : " ends without it";
  if (instead && instead->line) finding.more += ", in line " + std::to_string(instead->line);
  const std::vector<const Branch*> parted = partings(arrival, missing);
  if (!parted.empty()) {
    finding.other_site = parted.front()->site;
    finding.note = "they part at this branch";
  }
  findings_->add(finding);
}

std::vector<uint64_t> GroupChecks::ways_of(uint32_t thread) const {
  std::vector<uint64_t> ways;
  for (const Branch& branch : branches_) ways.push_back(branch.site ? branch.ways[thread] : 0);
  return ways;
}

// The branches, in the order of the code, at which they went different ways.
std::vector<const GroupChecks::Branch*> GroupChecks::partings(const Arrival& arrival,
                                                              uint32_t missing) const {
  const std::vector<uint64_t> ways = ways_of(missing);
  std::vector<const Branch*> found;
  for (size_t i = 0; i < ways.size(); ++i) {
    if (ways[i] != (i < arrival.ways.size() ? arrival.ways[i] : 0)) found.push_back(&branches_[i]);
  }
  return found;
}

// At a branch whose one way leads to the end of the kernel and nowhere else.
bool GroupChecks::has_returned(const Arrival& arrival, uint32_t missing) const {
  return !std::ranges::all_of(partings(arrival, missing), &Branch::joins);
}

}  // namespace metal::cpu
