// Where a launch's NaNs and infinities come from, for the check of numbers.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "metal/cpu/checks/check_abi.h"
#include "metal/cpu/runtime/place_map.h"

namespace metal::cpu {

class NumberOrigins {
 public:
  // An operation that made one.
  struct Origin {
    const CheckSite* site;
    bool nan;
    std::string text;  // "makes an infinity: 1 / 0 = inf"
  };

  // Its number, from 1 on. Operations of one place share one after the first few.
  uint32_t add(const CheckSite* site, double result, const std::vector<double>& operands);
  Origin get(uint32_t number) const;

  // The origin of what is in memory at the address of an element; 0: it came from outside.
  void keep(uint64_t address, uint64_t bytes, uint64_t element_bytes, uint32_t number);
  void copy(uint64_t address, uint64_t from, uint64_t bytes);
  uint32_t kept(uint64_t address, uint64_t bytes, uint64_t element_bytes) const;

 private:
  static constexpr uint32_t kMaxOfSite = 256;

  mutable std::mutex mutex_;
  std::vector<Origin> origins_;
  std::unordered_map<const CheckSite*, std::vector<uint32_t>> of_sites_;
  PlaceMap<uint32_t> memory_;
};

// As the source would write it: "0.1", "-inf".
std::string number_text(double value);

}  // namespace metal::cpu
