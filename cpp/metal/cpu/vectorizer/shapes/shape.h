// A shape says how the values of one variable differ between the lanes of a gang.
#pragma once

#include <cstdint>
#include <vector>

namespace metal::cpu {

// Shapes form a lattice. Its top is undefined. Then come values that are lane 0's plus an offset
// per lane that is known when code is generated; without offsets a value is uniform. Below them is
// strided: the difference from one lane to the next is the same but only known at run time, such as
// that of an index times a stride of an array. The bottom is varying.
class Shape {
 public:
  using Offsets = std::vector<int64_t>;  // by lane; the first is 0

  // Whether lane 0's value plus a lane's offset cannot wrap around.
  struct NoWrap {
    bool as_unsigned = false;
    bool as_signed = false;
    bool operator==(const NoWrap&) const = default;
    NoWrap operator&(const NoWrap& other) const {
      return {as_unsigned && other.as_unsigned, as_signed && other.as_signed};
    }
  };

  Shape() : Shape(Kind::Undefined) {}
  static Shape undefined() { return Shape(Kind::Undefined); }
  static Shape varying() { return Shape(Kind::Varying); }
  static Shape strided() { return Shape(Kind::Strided); }
  static Shape uniform(unsigned zero_bits = 0);
  // Makes offsets relative to that of lane 0. If all are equal and `exact`, the result is uniform.
  static Shape with_offsets(Offsets offsets, unsigned zero_bits, bool exact, NoWrap no_wrap);

  bool is_undefined() const { return kind_ == Kind::Undefined; }
  // Whether no offsets are known when code is generated.
  bool is_varying() const { return kind_ == Kind::Varying || kind_ == Kind::Strided; }
  bool is_strided() const { return kind_ == Kind::Strided; }
  bool is_uniform() const { return kind_ == Kind::Offsets && offsets_.empty(); }
  bool has_offsets() const { return kind_ == Kind::Offsets; }
  // Whether the difference from one lane to the next is the same, 0 included.
  bool has_stride() const;
  // Whether the values of neighbouring lanes differ by more than `distance`. True if their
  // difference is only known at run time.
  bool may_be_apart(int64_t distance) const;
  // Whether no known offset is larger.
  bool is_within(int64_t distance) const;

  int64_t offset(unsigned lane) const { return offsets_.empty() ? 0 : offsets_[lane]; }
  const Offsets& offsets() const { return offsets_; }
  // At least so many of the lowest bits of lane 0's value are 0.
  unsigned zero_bits() const { return zero_bits_; }
  // False if an extension to more bits has assumed that no lane wraps around. The offsets may then
  // be used for addresses if that is checked at run time.
  bool exact() const { return exact_; }
  Shape as_exact() const;
  NoWrap no_wrap() const { return no_wrap_; }

  Shape join(const Shape& other) const;
  bool operator==(const Shape&) const = default;

 private:
  enum class Kind : uint8_t { Undefined, Offsets, Strided, Varying };
  explicit Shape(Kind kind) : kind_(kind) {}

  Kind kind_;
  bool exact_ = true;
  NoWrap no_wrap_;
  unsigned zero_bits_ = 0;
  Offsets offsets_;
};

}  // namespace metal::cpu
