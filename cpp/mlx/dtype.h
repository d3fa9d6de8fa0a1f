// Element types, their categories, and how they promote.
#pragma once

#include "mlx/standard_headers.h"
#include "mlx/types/complex.h"
#include "mlx/types/half_types.h"

namespace mlx::core {

struct Dtype {
  enum class Val {
    bool_,
    uint8,
    uint16,
    uint32,
    uint64,
    int8,
    int16,
    int32,
    int64,
    float16,
    float32,
    float64,
    bfloat16,
    complex64,
  };

  enum class Kind { b, u, i, f, c, V };

  enum class Category {
    complexfloating,
    floating,
    inexact,
    signedinteger,
    unsignedinteger,
    integer,
    number,
    generic,
  };

  constexpr explicit Dtype(Val val, uint8_t size) : val_(val), size_(size) {}
  constexpr operator Val() const { return val_; }
  constexpr Val val() const { return val_; }
  constexpr uint8_t size() const { return size_; }

 private:
  Val val_;
  uint8_t size_;
};

inline constexpr Dtype bool_{Dtype::Val::bool_, sizeof(bool)};
inline constexpr Dtype uint8{Dtype::Val::uint8, 1};
inline constexpr Dtype uint16{Dtype::Val::uint16, 2};
inline constexpr Dtype uint32{Dtype::Val::uint32, 4};
inline constexpr Dtype uint64{Dtype::Val::uint64, 8};
inline constexpr Dtype int8{Dtype::Val::int8, 1};
inline constexpr Dtype int16{Dtype::Val::int16, 2};
inline constexpr Dtype int32{Dtype::Val::int32, 4};
inline constexpr Dtype int64{Dtype::Val::int64, 8};
inline constexpr Dtype float16{Dtype::Val::float16, 2};
inline constexpr Dtype float32{Dtype::Val::float32, 4};
inline constexpr Dtype float64{Dtype::Val::float64, 8};
inline constexpr Dtype bfloat16{Dtype::Val::bfloat16, 2};
inline constexpr Dtype complex64{Dtype::Val::complex64, 8};

inline constexpr Dtype::Category complexfloating = Dtype::Category::complexfloating;
inline constexpr Dtype::Category floating = Dtype::Category::floating;
inline constexpr Dtype::Category inexact = Dtype::Category::inexact;
inline constexpr Dtype::Category signedinteger = Dtype::Category::signedinteger;
inline constexpr Dtype::Category unsignedinteger = Dtype::Category::unsignedinteger;
inline constexpr Dtype::Category integer = Dtype::Category::integer;
inline constexpr Dtype::Category number = Dtype::Category::number;
inline constexpr Dtype::Category generic = Dtype::Category::generic;

// The type to which both are promoted.
Dtype promote_types(const Dtype& t1, const Dtype& t2);

inline uint8_t size_of(const Dtype& t) { return t.size(); }
Dtype::Kind kindof(const Dtype& t);
std::string dtype_to_string(Dtype t);

// Whether `a` is the type `b` or belongs to the category `b`.
bool issubdtype(const Dtype& a, const Dtype& b);
bool issubdtype(const Dtype::Category& a, const Dtype& b);
bool issubdtype(const Dtype& a, const Dtype::Category& b);
bool issubdtype(const Dtype::Category& a, const Dtype::Category& b);

inline bool is_floating_point(const Dtype& t) { return issubdtype(t, inexact); }

// float32 for integers and bool, the type itself otherwise.
Dtype at_least_float(const Dtype& t);

// The Dtype of a C++ type: TypeToDtype<float>() converts to float32.
template <typename T>
struct TypeToDtype {
  operator Dtype() const;
};
template <>
TypeToDtype<bool>::operator Dtype() const;
template <>
TypeToDtype<uint8_t>::operator Dtype() const;
template <>
TypeToDtype<uint16_t>::operator Dtype() const;
template <>
TypeToDtype<uint32_t>::operator Dtype() const;
template <>
TypeToDtype<unsigned long>::operator Dtype() const;
template <>
TypeToDtype<unsigned long long>::operator Dtype() const;
template <>
TypeToDtype<int8_t>::operator Dtype() const;
template <>
TypeToDtype<int16_t>::operator Dtype() const;
template <>
TypeToDtype<int32_t>::operator Dtype() const;
template <>
TypeToDtype<long>::operator Dtype() const;
template <>
TypeToDtype<long long>::operator Dtype() const;
template <>
TypeToDtype<float16_t>::operator Dtype() const;
template <>
TypeToDtype<bfloat16_t>::operator Dtype() const;
template <>
TypeToDtype<float>::operator Dtype() const;
template <>
TypeToDtype<double>::operator Dtype() const;
template <>
TypeToDtype<complex64_t>::operator Dtype() const;

// NumPy's type strings ("<f4"); bfloat16 is "V2" as ml_dtypes has it.
std::string dtype_to_array_protocol(const Dtype& t);
Dtype dtype_from_array_protocol(const std::string& text);

// Limits of floating types.
struct finfo {
  explicit finfo(Dtype dtype);
  Dtype dtype;
  double min;
  double max;
  double eps;
  double smallest_normal;
};

// Limits of integer types.
struct iinfo {
  explicit iinfo(Dtype dtype);
  Dtype dtype;
  int64_t min;
  uint64_t max;
};

}  // namespace mlx::core
