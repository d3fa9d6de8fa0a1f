#include "metal/cpu/runtime/race_detector.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace metal::cpu {
namespace {

constexpr uint64_t kPageBytes = 4096;

bool is_atomic(AccessKind access) {
  return access == AccessKind::Atomic || access == AccessKind::AtomicRead;
}

bool changes(AccessKind access) {
  return access == AccessKind::Write || access == AccessKind::Atomic;
}

}  // namespace

void RaceDetector::start_threadgroup(const Group& group) {
  group_ = &group;
  ++number_;
  group_synchronised_.resize(number_ + 1, 0);
  places_.resize(number_ + 1);
  places_[number_] = position_of(group, 0);
  thread_synchronised_.assign(size_t{group.size[0]} * group.size[1] * group.size[2], 0);
}

void RaceDetector::fence(uint32_t thread) {
  group_synchronised_[number_] = thread_synchronised_[thread] = ++clock_;
}

RaceDetector::Page& RaceDetector::page_of(uint64_t address, uint32_t unit) {
  Page& page = pages_[address / kPageBytes];
  if (page.cells.empty()) {
    page.unit = unit;
    page.cells.resize(kPageBytes / unit);
  } else if (unit < page.unit) {
    std::vector<Cell> cells(kPageBytes / unit);
    for (size_t i = 0; i < cells.size(); ++i) cells[i] = page.cells[i * unit / page.unit];
    page.unit = unit;
    page.cells = std::move(cells);
  }
  return page;
}

uint32_t RaceDetector::number_of(const CheckSite* site) {
  const auto [found, is_new] =
      site_numbers_.try_emplace(site, static_cast<uint32_t>(sites_.size()));
  if (is_new) sites_.push_back(site);
  return found->second;
}

void RaceDetector::overwrite(const void* place, uint64_t bytes) {
  place_ = static_cast<const char*>(place);
  overwritten_.assign(place_, place_ + bytes);
}

void RaceDetector::access(const Event& event, uint32_t thread, const GroupChecks::Epochs& epochs,
                          Findings& findings) {
  const Touch now{.group = number_,
                  .thread = static_cast<uint16_t>(thread),
                  .atomic = is_atomic(event.access),
                  .epoch = epochs.group,
                  .lane_epoch = epochs.lanes,
                  .clock = clock_,
                  .site = number_of(event.site)};
  const uint32_t unit = event.address % 4 == 0 && event.bytes % 4 == 0 ? 4 : 1;
  for (uint64_t at = event.address; at < event.address + event.bytes;) {
    Page& page = page_of(at, unit);
    const uint64_t in_page = at % kPageBytes;
    const bool changed = event.access != AccessKind::Write ||
                         std::memcmp(place_ + (at - event.address),
                                     &overwritten_[at - event.address], page.unit) != 0;
    touch(page.cells[in_page / page.unit], event, now, changed, findings);
    at += page.unit;
  }
  if (now.atomic) fence(thread);
}

void RaceDetector::touch(Cell& cell, const Event& event, const Touch& now, bool changed,
                         Findings& findings) {
  const bool shared_group = event.object->kind == ObjectKind::Threadgroup;
  const bool again = cell.write.one_of_many && cell.write.group == now.group &&
                     cell.write.thread == now.thread && cell.write.epoch == now.epoch;
  if (!changed && again) return;
  if (conflicts(cell.write, now, shared_group)) {
    if (!changed) {
      cell.write.one_of_many = true;
      return;
    }
    if (!cell.write.one_of_many || changes(event.access))
      report(event, cell.write, now, true, findings);
  }
  if (changes(event.access)) {
    for (const Touch& read : cell.reads) {
      if (conflicts(read, now, shared_group)) return report(event, read, now, false, findings);
    }
    cell.write = now;
    return;
  }
  auto same_thread = [&](const Touch& read) {
    return read.group == now.group && read.thread == now.thread;
  };
  Touch& slot = same_thread(cell.reads[0]) ? cell.reads[0] : cell.reads[1];
  if (&slot == &cell.reads[1] && !same_thread(slot)) cell.reads[0] = cell.reads[1];
  slot = now;
}

// Accesses are ordered by a barrier that all threads in question have passed in between. Atomic
// accesses and fences order threads that use them after the one access and before the other.
bool RaceDetector::conflicts(const Touch& before, const Touch& now, bool shared_group) const {
  if (before.group == 0 || (before.atomic && now.atomic)) return false;
  if (before.group != now.group) {
    if (shared_group) return false;
    return group_synchronised_[before.group] <= before.clock || !group_synchronised_[now.group];
  }
  if (before.thread == now.thread || before.epoch != now.epoch) return false;
  const bool together = before.thread / kSimdWidth == now.thread / kSimdWidth;
  if (together && before.lane_epoch != now.lane_epoch) return false;
  return thread_synchronised_[before.thread] <= before.clock || !thread_synchronised_[now.thread];
}

void RaceDetector::report(const Event& event, const Touch& before, const Touch& now, bool wrote,
                          Findings& findings) const {
  ThreadPosition other = places_[before.group];
  if (before.group == now.group) other = position_of(*group_, before.thread);
  Finding finding{.kind = FindingKind::Races, .site = event.site, .object = event.object};
  finding.access = event.access;
  finding.offset = static_cast<int64_t>(event.address - event.begin);
  finding.bytes = event.bytes;
  finding.position = position_of(*group_, now.thread);
  const std::string who =
      before.group == now.group ? "thread " + describe(other) : "a thread of another threadgroup";
  const char* what = wrote ? "writes" : "reads";
  finding.more = ", which " + who + " " + what + ", and nothing orders the two";
  finding.other_site = sites_[before.site];
  finding.note = std::string("it ") + what + " it here";
  findings.add(finding);
}

}  // namespace metal::cpu
