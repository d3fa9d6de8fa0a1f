// How far results of 16 bits are from the same computation in float64.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "metal/checks.h"
#include "metal/cpu/checks/check_abi.h"
#include "metal/cpu/runtime/place_map.h"

namespace metal::cpu {

class Findings;

// Of a launch, on one thread of the host.
class RoundingErrors {
 public:
  struct Result {
    const CheckSite* site;
    const CheckObject* object;
    uint64_t index;  // in elements of the object
    ThreadPosition position;
    double value, exact;
  };

  // The exact value of a float in memory, and what is known of a float that is read there.
  void keep(uint64_t address, double value, double exact);
  double exact(uint64_t address, double value) const;
  void copy(uint64_t address, uint64_t from, uint64_t bytes);

  void add(const Result& result, ResultFormat format);
  // The largest error of each place in the source and buffer, where it is above kAllowedUnits.
  void report(Findings& findings) const;

 private:
  // In units in the last place of the result's format. One rounding makes half a unit, a few
  // operations a few units.
  static constexpr double kAllowedUnits = 4;
  static constexpr size_t kMaxKept = size_t{1} << 22;  // some 300 MB

  struct Kept {
    double value, exact;
  };
  struct Largest {
    Result result;
    const char* format = "";
    double units = 0;
    uint64_t results = 0, above = 0;
  };

  PlaceMap<Kept> memory_;
  std::map<std::pair<const CheckSite*, const CheckObject*>, Largest> largest_;
};

}  // namespace metal::cpu
