#include "metal/cpu/checks/exact_math.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace metal::cpu {
namespace {

constexpr std::pair<std::string_view, double (*)(double)> kOfOne[] = {
    {"acos", std::acos},
    {"acosh", std::acosh},
    {"asin", std::asin},
    {"asinh", std::asinh},
    {"atan", std::atan},
    {"atanh", std::atanh},
    {"cos", std::cos},
    {"cosh", std::cosh},
    {"cospi", [](double x) { return std::cos(std::numbers::pi * x); }},
    {"exp", std::exp},
    {"exp10", [](double x) { return std::pow(10.0, x); }},
    {"exp2", std::exp2},
    {"fabs", std::fabs},
    {"log", std::log},
    {"log10", std::log10},
    {"log1p", std::log1p},
    {"log2", std::log2},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
    {"sin", std::sin},
    {"sinh", std::sinh},
    {"sinpi", [](double x) { return std::sin(std::numbers::pi * x); }},
    {"sqrt", std::sqrt},
    {"tan", std::tan},
    {"tanh", std::tanh},
    {"tanpi", [](double x) { return std::tan(std::numbers::pi * x); }},
};
constexpr std::pair<std::string_view, double (*)(double, double)> kOfTwo[] = {
    {"atan2", std::atan2},
    {"copysign", std::copysign},
    {"divide", [](double x, double y) { return x / y; }},
    {"fdim", std::fdim},
    {"fmax", std::fmax},
    {"fmin", std::fmin},
    {"pow", std::pow},
    {"powr", std::pow},
};
constexpr std::pair<std::string_view, double (*)(double, double, double)> kOfThree[] = {
    {"fma", std::fma},
};

template <typename Function, size_t n>
Function find(const std::pair<std::string_view, Function> (&functions)[n], std::string_view name) {
  const auto* found = std::ranges::find(functions, name, [](const auto& row) { return row.first; });
  return found == std::end(functions) ? nullptr : found->second;
}

}  // namespace

bool has_exact_math(std::string_view name, size_t operands) {
  switch (operands) {
    case 1:
      return find(kOfOne, name) != nullptr;
    case 2:
      return find(kOfTwo, name) != nullptr;
    case 3:
      return find(kOfThree, name) != nullptr;
    default:
      return false;
  }
}

double exact_math(std::string_view name, std::span<const double> x) {
  switch (x.size()) {
    case 1:
      return find(kOfOne, name)(x[0]);
    case 2:
      return find(kOfTwo, name)(x[0], x[1]);
    default:
      return find(kOfThree, name)(x[0], x[1], x[2]);
  }
}

}  // namespace metal::cpu
