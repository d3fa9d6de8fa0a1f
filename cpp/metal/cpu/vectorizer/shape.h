// How the values of one variable differ between the lanes of a unit.
#pragma once

#include <cstdint>
#include <vector>

namespace metal::cpu {

// Lattice: undefined above every pattern, varying below. A pattern is the value of lane 0 plus an
// offset per lane that is known when code is generated; without offsets the value is uniform.
// Between patterns and varying lies what grows from lane to lane by one step that only the run
// knows, such as an index times a stride.
class Shape {
 public:
  using Offsets = std::vector<int64_t>;  // by lane; the first is 0

  // Whether lane 0's value plus a lane's offset is the lane's value without wrapping around.
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
  static Shape stepped() { return Shape(Kind::Stepped); }
  static Shape uniform(unsigned zero_bits = 0);
  // Offsets relative to those of lane 0; all equal makes it uniform.
  static Shape pattern(Offsets offsets, unsigned zero_bits, bool exact, NoWrap no_wrap);

  bool is_undefined() const { return kind_ == Kind::Undefined; }
  // No pattern is known when code is generated.
  bool is_varying() const { return kind_ == Kind::Varying || kind_ == Kind::Stepped; }
  bool is_stepped() const { return kind_ == Kind::Stepped; }
  bool is_uniform() const { return kind_ == Kind::Pattern && offsets_.empty(); }
  bool is_pattern() const { return kind_ == Kind::Pattern; }
  // Grows by one step for certain, which may be 0.
  bool has_step() const;

  int64_t offset(unsigned lane) const { return offsets_.empty() ? 0 : offsets_[lane]; }
  const Offsets& offsets() const { return offsets_; }
  // At least so many of the lowest bits of lane 0's value are 0.
  unsigned zero_bits() const { return zero_bits_; }
  // False where an extension to more bits has assumed that no lane wraps around: good for
  // addresses, if that is checked at run time.
  bool exact() const { return exact_; }
  Shape as_exact() const;
  NoWrap no_wrap() const { return no_wrap_; }

  Shape join(const Shape& other) const;
  bool operator==(const Shape&) const = default;

 private:
  enum class Kind : uint8_t { Undefined, Pattern, Stepped, Varying };
  explicit Shape(Kind kind) : kind_(kind) {}

  Kind kind_;
  bool exact_ = true;
  NoWrap no_wrap_;
  unsigned zero_bits_ = 0;
  Offsets offsets_;
};

}  // namespace metal::cpu
