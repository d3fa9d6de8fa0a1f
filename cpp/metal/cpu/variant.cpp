#include "metal/cpu/variant.h"

#include <numeric>

namespace metal::cpu {
namespace {

constexpr uint32_t kFewest = 4;  // fewer threads are not worth a vector
constexpr uint32_t kMostGangsAtOnce = 4;

Variant choose_layout(Cooperation cooperation, const uint32_t (&size)[3], uint32_t natural_width) {
  switch (cooperation) {
    case Cooperation::None:
      for (uint32_t width = natural_width; width >= kNarrowestGang; width /= 2) {
        if (size[0] >= width) return {ThreadLayout::Rows, width};
      }
      if (size[0] * size[1] * size[2] < kFewest) return {};
      return {ThreadLayout::Ragged, natural_width};
    case Cooperation::Barriers:
      for (uint32_t width = kSimdWidth; width >= kNarrowestGang; width /= 2) {
        if (size[0] % width == 0) return {ThreadLayout::Full, width};
      }
      return {ThreadLayout::Ragged, kSimdWidth};
    case Cooperation::SimdGroups:
      break;
  }
  return {size[0] % kSimdWidth == 0 ? ThreadLayout::Full : ThreadLayout::Ragged, kSimdWidth};
}

}  // namespace

void allow_jam(Variant& variant, const uint32_t (&size)[3]) {
  if (variant.layout != ThreadLayout::Full || size[2] != 1) return;
  variant.gangs_in_row = size[0] / variant.width;
  variant.rows = size[1];
}

void allow_columns(Variant& variant, const uint32_t (&size)[3]) {
  if (variant.layout != ThreadLayout::Rows) return;
  variant.rows_at_once = std::gcd(size[1], kMostAtOnce);
  variant.layers_at_once = std::gcd(size[2], kMostAtOnce);
}

void allow_gangs_at_once(Variant& variant, const uint32_t (&size)[3]) {
  if (variant.layout != ThreadLayout::Full) return;
  variant.gangs_at_once = std::gcd(size[0] / variant.width, kMostGangsAtOnce);
}

Variant choose_variant(Cooperation cooperation, const uint32_t (&size)[3], uint32_t row,
                       uint32_t natural_width) {
  Variant variant = choose_layout(cooperation, size, natural_width);
  if (variant.layout == ThreadLayout::Ragged) return variant;
  // Each variant is compiled separately, so only two multiples are told apart.
  const bool may_be_coherent = variant.layout == ThreadLayout::Rows;
  const uint32_t multiples[] = {coherent_width(variant.width), variant.width};
  for (uint32_t multiple : multiples) {
    if (multiple > variant.width && !may_be_coherent) continue;
    if (size[0] % multiple != 0 || row % multiple != 0) continue;
    variant.row_multiple = multiple;
    break;
  }
  return variant;
}

}  // namespace metal::cpu
