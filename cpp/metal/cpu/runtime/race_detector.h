// Finds accesses of two threads to one place that nothing orders.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "metal/cpu/runtime/findings.h"
#include "metal/cpu/runtime/group_checks.h"

namespace metal::cpu {

// The threadgroups run one after the other, on one worker. For each word of memory (each byte,
// where smaller parts are accessed) it keeps the last write and two reads, each with the number of
// barriers before it. Threads that write one and the same value do not race: which of them was the
// last is then unknown, and who reads it is taken for one of them.
class RaceDetector {
 public:
  struct Event {
    const CheckSite* site;
    const CheckObject* object;
    uint64_t begin;  // of the object
    uint64_t address;
    uint64_t bytes;
    AccessKind access;
  };

  void start_threadgroup(const Group& group);
  // What lies there is compared with what the write that comes next leaves.
  void overwrite(const void* place, uint64_t bytes);
  // By this thread of the threadgroup, which has passed so many barriers.
  void access(const Event& event, uint32_t thread, const GroupChecks::Epochs& epochs,
              Findings& findings);
  void fence(uint32_t thread);

 private:
  // An access in the past.
  struct Touch {
    uint32_t group = 0;  // number of the threadgroup; 0: there was none
    uint16_t thread = 0;
    bool atomic = false;
    bool one_of_many = false;  // others have written the same
    uint32_t epoch = 0;
    uint32_t lane_epoch = 0;
    uint32_t clock = 0;
    uint32_t site = 0;
  };
  struct Cell {
    Touch write;
    Touch reads[2];
  };
  struct Page {
    uint32_t unit = 4;  // bytes of a cell
    std::vector<Cell> cells;
  };

  Page& page_of(uint64_t address, uint32_t unit);
  void touch(Cell& cell, const Event& event, const Touch& now, bool changed, Findings& findings);
  bool conflicts(const Touch& before, const Touch& now, bool shared_group) const;
  void report(const Event& event, const Touch& before, const Touch& now, bool wrote,
              Findings& findings) const;
  uint32_t number_of(const CheckSite* site);

  const Group* group_ = nullptr;
  uint32_t number_ = 0;                        // of the threadgroup, from 1 on
  uint32_t clock_ = 0;                         // counts atomic accesses and fences
  std::vector<uint32_t> group_synchronised_;   // by threadgroup: clock of its last one, 0: none
  std::vector<uint32_t> thread_synchronised_;  // by thread of this threadgroup
  std::vector<ThreadPosition> places_;         // of threadgroups
  const char* place_ = nullptr;                // of that write
  std::vector<char> overwritten_;              // bytes
  std::unordered_map<uint64_t, Page> pages_;
  std::vector<const CheckSite*> sites_;
  std::unordered_map<const CheckSite*, uint32_t> site_numbers_;
};

}  // namespace metal::cpu
