#include "metal/cpu/variant.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace metal::cpu {
namespace {

constexpr uint32_t kFewest = 4;  // fewer threads are not worth a vector
constexpr uint32_t kMostGangsAtOnce = 4;
constexpr uint32_t kThreadgroupMemory = 32768;  // bytes of one threadgroup
constexpr uint32_t kFloatsOfLine = 16;          // of a cache line

Variant choose_layout(const GangTraits& traits, const uint32_t (&size)[3]) {
  const uint32_t natural_width = traits.natural_width;
  switch (traits.cooperation) {
    case Cooperation::None:
      for (uint32_t width = natural_width; width >= kNarrowestGang; width /= 2) {
        if (size[0] >= width) return {ThreadLayout::Rows, width};
      }
      if (size[0] * size[1] * size[2] < kFewest) return {};
      return {ThreadLayout::Ragged, natural_width};
    case Cooperation::Barriers:
      for (uint32_t width = traits.widest_waiting; width >= kNarrowestGang; width /= 2) {
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

JoinedGroups groups_to_join(const GangTraits& traits, const uint32_t (&size)[3], uint32_t bytes) {
  const uint32_t dimension = traits.group_dimension, length = size[dimension];
  if (traits.cooperation != Cooperation::Barriers || size[2] != 1) return {};
  if (size[0] < kNarrowestGang || !std::has_single_bit(length)) return {};
  const uint32_t width = std::min(size[0], traits.widest_waiting);
  const uint32_t gangs = size[0] / width * size[1];
  const uint32_t neighbours = dimension == 0 ? width : length;
  uint32_t count = std::max(kFloatsOfLine / neighbours, 1u);
  // Half of the registers are for sums, as in gang_choice.cpp.
  while (count > 1 &&
         (count * gangs > traits.natural_width / 2 || count * bytes > kThreadgroupMemory))
    count /= 2;
  return count > 1 ? JoinedGroups{count, dimension, length} : JoinedGroups{};
}

Variant choose_variant(const GangTraits& traits, const uint32_t (&size)[3], uint32_t row) {
  Variant variant = choose_layout(traits, size);
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
