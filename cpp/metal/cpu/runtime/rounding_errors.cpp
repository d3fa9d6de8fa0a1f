#include "metal/cpu/runtime/rounding_errors.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "metal/cpu/runtime/findings.h"
#include "metal/cpu/runtime/number_origins.h"

namespace metal::cpu {
namespace {

struct Format {
  const char* name;
  int digits;        // of the significand, in bits
  int min_exponent;  // of normal numbers
};
constexpr Format kHalf = {"half", 11, -14};
constexpr Format kBFloat = {"bfloat", 8, -126};

// The distance of neighbouring numbers of the format around this one.
double unit_in_last_place(double value, const Format& format) {
  const int exponent = value == 0 ? format.min_exponent : std::ilogb(value);
  return std::ldexp(1.0, std::max(exponent, format.min_exponent) - format.digits + 1);
}

std::string short_text(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}

}  // namespace

void RoundingErrors::keep(uint64_t address, double value, double exact) {
  if (value == exact) {
    memory_.erase(address);
    return;
  }
  if (memory_.size() >= kMaxKept) memory_.clear();  // what is read from there counts as exact
  memory_[address] = {value, exact};
}

double RoundingErrors::exact(uint64_t address, double value) const {
  const auto found = memory_.find(address);
  // Something else may have been stored there since, in a way that is not followed.
  return found != memory_.end() && found->second.value == value ? found->second.exact : value;
}

void RoundingErrors::copy(uint64_t address, uint64_t from, uint64_t bytes) {
  copy_places(memory_, address, from, bytes);
}

void RoundingErrors::add(const Result& result, ResultFormat format) {
  // What is not finite is for the rest of the check of numbers.
  if (!std::isfinite(result.value) || !std::isfinite(result.exact)) return;
  Largest& largest = largest_[{result.site, result.object}];
  const Format& precision = format == ResultFormat::Half ? kHalf : kBFloat;
  const double units =
      std::abs(result.value - result.exact) / unit_in_last_place(result.exact, precision);
  ++largest.results;
  largest.above += units > kAllowedUnits;
  if (units <= largest.units) return;
  largest.units = units;
  largest.format = precision.name;
  largest.result = result;
}

void RoundingErrors::report(Findings& findings) const {
  for (const auto& [place, largest] : largest_) {
    if (largest.units <= kAllowedUnits) continue;
    const Result& result = largest.result;
    std::string text = "rounding in " + std::string(largest.format) + " makes element " +
                       std::to_string(result.index) + " of " + describe_object(*result.object) +
                       " " + number_text(result.value) + ", where float64 gives " +
                       number_text(result.exact) + ": an error of " + short_text(largest.units) +
                       " units in the last place";
    if (result.exact != 0) {
      const double part = std::abs((result.value - result.exact) / result.exact);
      text += " (" + short_text(100 * part) + " %)";
    }
    text += ", the largest here; " + std::to_string(largest.above) + " of " +
            std::to_string(largest.results) + " results are off by more than " +
            short_text(kAllowedUnits);
    findings.add({.kind = FindingKind::Numbers,
                  .site = result.site,
                  .object = result.object,
                  .access = AccessKind::Write,
                  .offset = static_cast<int64_t>(result.index * result.object->element_bytes),
                  .position = result.position,
                  .more = text});
  }
}

}  // namespace metal::cpu
