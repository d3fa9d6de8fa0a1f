// What the checks know of the threadgroup that a worker runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "metal/cpu/runtime/findings.h"
#include "metal/driver.h"

namespace metal::cpu {

// Barriers count as many times as a thread has come to them; the n-th barrier of all threads of a
// threadgroup (or SIMD-group) has to be the same one.
class GroupChecks {
 public:
  // Bytes of memory that what is outside of objects is written to.
  static constexpr size_t kNowhere = 4096;
  char* nowhere() { return nowhere_; }
  const char* nowhere() const { return nowhere_; }

  void begin(const Group& group, Findings& findings, bool barriers);
  void end();  // all threads have ended

  // Reads outside of an object wait here until their value is used. Numbers start at 1.
  uint32_t defer(const Finding& finding);
  void use(uint32_t number);
  // Undefined values wait likewise. Those of a variable of this place and name share a number.
  uint32_t defer_variable(const Finding& finding);
  // Where they are kept in memory that threads share, by the address of an element.
  void keep_undefined(uint64_t address, uint32_t number) { kept_[address] = number; }
  uint32_t kept_undefined(uint64_t address) const;
  const Finding* deferred(uint32_t number) const {
    return number ? &deferred_[number - 1] : nullptr;
  }

  void barrier(uint32_t thread, const CheckSite* site, uint32_t scope, bool orders);
  void branch(uint32_t thread, const CheckSite* site, uint32_t number, uint64_t successor,
              bool reconverges);

  // How often the thread has passed a barrier of its threadgroup and one of its SIMD-group.
  struct Epochs {
    uint32_t group = 0;
    uint32_t lanes = 0;
  };
  const Epochs& epochs(uint32_t thread) const { return epochs_[thread]; }

 private:
  static constexpr size_t kMaxDeferred = size_t{1} << 20;

  struct Branch {
    const CheckSite* site = nullptr;
    bool reconverges = false;     // code follows that is run on all paths
    std::vector<uint64_t> paths;  // of each thread, all successors that it has taken as one number
  };
  // The thread that is the first at a barrier, and its path up to there.
  struct Arrival {
    const CheckSite* site;
    uint32_t thread;
    std::vector<uint64_t> path;  // by branch
  };
  // The barriers that the threads of a scope have reached, in order.
  struct Arrivals {
    std::vector<Arrival> first;
    bool diverged = false;  // it has been reported
  };

  void arrive(Arrivals& arrivals, uint32_t thread, uint32_t count, const CheckSite* site);
  void compare_ends(Arrivals& arrivals, const std::vector<uint32_t>& counts, uint32_t first,
                    uint32_t last);
  void report(Arrivals& arrivals, const Arrival& arrival, uint32_t missing,
              const CheckSite* instead);
  std::vector<uint64_t> path_of(uint32_t thread) const;
  std::vector<const Branch*> divergences(const Arrival& arrival, uint32_t missing) const;
  bool has_returned(const Arrival& arrival, uint32_t missing) const;

  const Group* group_ = nullptr;
  Findings* findings_ = nullptr;
  uint32_t threads_ = 0;
  bool barriers_ = false;
  std::vector<Finding> deferred_;
  std::unordered_map<uint64_t, uint32_t> kept_;
  std::map<std::pair<const CheckSite*, const CheckObject*>, uint32_t> variables_;
  std::vector<Epochs> epochs_;
  std::vector<uint32_t> group_counts_;  // by thread
  std::vector<uint32_t> lane_counts_;
  Arrivals all_;
  std::vector<Arrivals> lanes_;  // by SIMD-group
  std::vector<Branch> branches_;
  alignas(64) char nowhere_[kNowhere];
};

}  // namespace metal::cpu
