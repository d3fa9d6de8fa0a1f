// What the checks of a launch find, gathered from all workers.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "metal/checks.h"
#include "metal/cpu/checks/check_abi.h"

namespace metal::cpu {

inline constexpr CheckSite kNoSite = {"", "", 0, 0};  // of what no line of the source does

enum class FindingKind : uint32_t { Bounds, Barriers, Races, Uninitialised, Order, Numbers };

struct Finding {
  FindingKind kind;
  const CheckSite* site;
  const CheckObject* object = nullptr;
  AccessKind access = AccessKind::Read;
  int64_t offset = 0;     // bytes from the object's begin
  uint64_t size = 0;      // of the object, in bytes; 0: not known
  uint64_t bytes = 0;     // that are accessed; 0: a variable is meant as a whole
  bool of_thread = true;  // false: of the launch as a whole
  ThreadPosition position = {};
  std::string more = {};  // of the message
  const CheckSite* other_site = nullptr;
  std::string note = {};
};

// Where the thread of this linear index is.
ThreadPosition position_of(const Group& group, uint32_t thread);

// Of memory or a variable that has no value: "element 5 of the buffer "y", which nobody has
// written".
std::string describe_origin(const Finding& finding);
// "the buffer "y"".
std::string describe_object(const CheckObject& object);
// The end of that: ", which nobody has written", or ", which has no value" of a variable.
const char* why_undefined(const Finding& finding);

class Findings {
 public:
  // Of one place and object only the first counts, in the order of threadgroups and threads.
  void add(const Finding& finding);
  // For a kernel of this name, compiled from this source (which may be empty).
  std::vector<CheckReport> reports(const std::string& kernel, const std::string& source) const;

 private:
  struct Entry {
    Finding first;
    uint64_t count = 0;
  };
  std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // by what findings are told apart by
};

}  // namespace metal::cpu
