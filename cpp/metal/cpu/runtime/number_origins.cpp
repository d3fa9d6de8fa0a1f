#include "metal/cpu/runtime/number_origins.h"

#include <cctype>
#include <cmath>
#include <cstdio>

namespace metal::cpu {
namespace {

bool is_operator(const std::string& name) { return name.size() == 1 && !std::isalpha(name[0]); }

// "1 / 0", "exp(100)".
std::string expression(const std::string& name, const std::vector<double>& operands) {
  if (is_operator(name) && operands.size() == 2) {
    const std::string right = number_text(operands[1]);
    return number_text(operands[0]) + " " + name + " " +
           (right.starts_with("-") ? "(" + right + ")" : right);
  }
  std::string text;
  for (const double operand : operands) text += (text.empty() ? "" : ", ") + number_text(operand);
  return name + "(" + text + ")";
}

std::string describe(const std::string& name, double result, const std::vector<double>& operands) {
  const std::string kind = std::isnan(result) ? "makes a NaN" : "makes an infinity";
  if (name.empty()) return kind;
  if (operands.empty()) return kind + " in " + name;
  return kind + ": " + expression(name, operands) + " = " + number_text(result);
}

}  // namespace

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  char text[32];
  std::snprintf(text, sizeof(text), "%.7g", value);
  return text;
}

uint32_t NumberOrigins::add(const CheckSite* site, double result,
                            const std::vector<double>& operands) {
  const std::lock_guard lock(mutex_);
  std::vector<uint32_t>& known = of_sites_[site];
  if (known.size() >= kMaxOfSite) return known.back();
  origins_.push_back({site, std::isnan(result), describe(site->what, result, operands)});
  known.push_back(static_cast<uint32_t>(origins_.size()));
  return known.back();
}

NumberOrigins::Origin NumberOrigins::get(uint32_t number) const {
  const std::lock_guard lock(mutex_);
  return origins_[number - 1];
}

void NumberOrigins::keep(uint64_t address, uint64_t bytes, uint64_t element_bytes,
                         uint32_t number) {
  const std::lock_guard lock(mutex_);
  for (uint64_t place = address; place < address + bytes; place += element_bytes) {
    if (number) {
      memory_[place] = number;
    } else {
      memory_.erase(place);
    }
  }
}

void NumberOrigins::copy(uint64_t address, uint64_t from, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  copy_places(memory_, address, from, bytes);
}

uint32_t NumberOrigins::kept(uint64_t address, uint64_t bytes, uint64_t element_bytes) const {
  const std::lock_guard lock(mutex_);
  for (uint64_t place = address; place < address + bytes; place += element_bytes) {
    if (const auto found = memory_.find(place); found != memory_.end()) return found->second;
  }
  return 0;
}

}  // namespace metal::cpu
