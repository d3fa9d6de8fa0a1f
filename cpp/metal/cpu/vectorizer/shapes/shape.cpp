#include "metal/cpu/vectorizer/shapes/shape.h"

#include <algorithm>
#include <cstdlib>

namespace metal::cpu {

Shape Shape::uniform(unsigned zero_bits) {
  Shape shape(Kind::Offsets);
  shape.zero_bits_ = zero_bits;
  shape.no_wrap_ = {true, true};
  return shape;
}

namespace {

int64_t wrapping_difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

}  // namespace

Shape Shape::with_offsets(Offsets offsets, unsigned zero_bits, bool exact, NoWrap no_wrap) {
  const int64_t first = offsets.empty() ? 0 : offsets.front();
  bool same = true;
  for (int64_t& offset : offsets) {
    offset = wrapping_difference(offset, first);
    same &= offset == 0;
  }
  Shape shape = uniform(zero_bits);
  // If lanes may have wrapped around, no test at run time would show that the values are equal.
  if (same) return exact ? shape : varying();
  // If the low bits of lane 0's value are zeros, offsets that fit into these bits cannot wrap
  // around.
  const int64_t room = int64_t{1} << std::min(zero_bits, 62u);
  const bool fits =
      std::ranges::all_of(offsets, [room](int64_t offset) { return offset >= 0 && offset < room; });
  shape.no_wrap_ = fits ? NoWrap{true, true} : no_wrap;
  shape.offsets_ = std::move(offsets);
  shape.exact_ = exact;
  return shape;
}

Shape Shape::as_exact() const {
  Shape shape = *this;
  shape.exact_ = true;
  return shape;
}

bool Shape::has_stride() const {
  if (!has_offsets()) return is_strided();
  if (!exact_) return false;
  for (size_t lane = 0; lane < offsets_.size(); ++lane) {
    if (static_cast<uint64_t>(offsets_[lane]) != lane * static_cast<uint64_t>(offsets_[1]))
      return false;
  }
  return true;
}

bool Shape::may_be_apart(int64_t distance) const {
  if (!has_offsets()) return is_varying();
  for (size_t lane = 1; lane < offsets_.size(); ++lane) {
    if (std::abs(offsets_[lane] - offsets_[lane - 1]) <= distance) return false;
  }
  return !offsets_.empty();
}

bool Shape::is_within(int64_t distance) const {
  return std::ranges::all_of(
      offsets_, [&](int64_t offset) { return -distance <= offset && offset <= distance; });
}

Shape Shape::join(const Shape& other) const {
  if (is_undefined()) return other;
  if (other.is_undefined()) return *this;
  if ((is_strided() || other.is_strided()) && has_stride() && other.has_stride()) return strided();
  if (is_varying() || other.is_varying() || offsets_ != other.offsets_) return varying();
  Shape shape = *this;
  shape.zero_bits_ = std::min(zero_bits_, other.zero_bits_);
  shape.exact_ = exact_ && other.exact_;
  shape.no_wrap_ = no_wrap_ & other.no_wrap_;
  return shape;
}

}  // namespace metal::cpu
