// Element types: promotion, categories, names and limits.
#include "mlx/dtype.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "mlx/errors.h"

namespace mlx::core {

namespace {

bool is_signed(const Dtype& t) {
  return t.val() >= Dtype::Val::int8 && t.val() <= Dtype::Val::int64;
}
bool is_unsigned(const Dtype& t) {
  return t.val() >= Dtype::Val::uint8 && t.val() <= Dtype::Val::uint64;
}
bool is_floating(const Dtype& t) {
  return t.val() >= Dtype::Val::float16 && t.val() <= Dtype::Val::bfloat16;
}

// The smallest signed type that holds an unsigned type's values and a signed type's.
Dtype promote_signed_unsigned(const Dtype& s, const Dtype& u) {
  if (s.size() > u.size()) {
    return s;
  }
  switch (u.size()) {
    case 1:
      return int16;
    case 2:
      return int32;
    case 4:
      return int64;
    default:
      return float32;
  }
}

Dtype promote_floats(const Dtype& a, const Dtype& b) {
  if (a == b) {
    return a;
  }
  return (a == float64 || b == float64) ? float64 : float32;
}

}  // namespace

Dtype promote_types(const Dtype& t1, const Dtype& t2) {
  if (t1 == t2 || t2 == bool_) {
    return t1;
  }
  if (t1 == bool_) {
    return t2;
  }
  if (t1 == complex64 || t2 == complex64) {
    return complex64;
  }
  if (is_floating(t1) || is_floating(t2)) {
    return !is_floating(t1) ? t2 : !is_floating(t2) ? t1 : promote_floats(t1, t2);
  }
  if (is_signed(t1) == is_signed(t2)) {
    return t1.size() >= t2.size() ? t1 : t2;
  }
  return is_signed(t1) ? promote_signed_unsigned(t1, t2) : promote_signed_unsigned(t2, t1);
}

Dtype::Kind kindof(const Dtype& t) {
  if (t == bool_) {
    return Dtype::Kind::b;
  }
  if (is_unsigned(t)) {
    return Dtype::Kind::u;
  }
  if (is_signed(t)) {
    return Dtype::Kind::i;
  }
  if (t == bfloat16) {
    return Dtype::Kind::V;
  }
  return t == complex64 ? Dtype::Kind::c : Dtype::Kind::f;
}

std::string dtype_to_string(Dtype t) {
  switch (t.val()) {
    case Dtype::Val::bool_:
      return "bool";
    case Dtype::Val::uint8:
      return "uint8";
    case Dtype::Val::uint16:
      return "uint16";
    case Dtype::Val::uint32:
      return "uint32";
    case Dtype::Val::uint64:
      return "uint64";
    case Dtype::Val::int8:
      return "int8";
    case Dtype::Val::int16:
      return "int16";
    case Dtype::Val::int32:
      return "int32";
    case Dtype::Val::int64:
      return "int64";
    case Dtype::Val::float16:
      return "float16";
    case Dtype::Val::float32:
      return "float32";
    case Dtype::Val::float64:
      return "float64";
    case Dtype::Val::bfloat16:
      return "bfloat16";
    case Dtype::Val::complex64:
      return "complex64";
  }
  return "unknown";
}

bool issubdtype(const Dtype& a, const Dtype& b) { return a == b; }

bool issubdtype(const Dtype::Category&, const Dtype&) { return false; }

bool issubdtype(const Dtype& a, const Dtype::Category& b) {
  if (a == bool_) {
    return b == generic;
  }
  Dtype::Category category = a == complex64   ? complexfloating
                             : is_floating(a) ? floating
                             : is_unsigned(a) ? unsignedinteger
                                              : signedinteger;
  return issubdtype(category, b);
}

bool issubdtype(const Dtype::Category& a, const Dtype::Category& b) {
  if (a == b || b == generic) {
    return true;
  }
  switch (a) {
    case complexfloating:
    case floating:
      return b == inexact || b == number;
    case signedinteger:
    case unsignedinteger:
      return b == integer || b == number;
    case inexact:
    case integer:
      return b == number;
    default:
      return false;
  }
}

Dtype at_least_float(const Dtype& t) {
  return issubdtype(t, inexact) ? t : promote_types(t, float32);
}

#define MLX_TYPE_TO_DTYPE(T, dtype)        \
  template <>                              \
  TypeToDtype<T>::operator Dtype() const { \
    return dtype;                          \
  }
MLX_TYPE_TO_DTYPE(bool, bool_)
MLX_TYPE_TO_DTYPE(uint8_t, uint8)
MLX_TYPE_TO_DTYPE(uint16_t, uint16)
MLX_TYPE_TO_DTYPE(uint32_t, uint32)
MLX_TYPE_TO_DTYPE(unsigned long, uint64)
MLX_TYPE_TO_DTYPE(unsigned long long, uint64)
MLX_TYPE_TO_DTYPE(int8_t, int8)
MLX_TYPE_TO_DTYPE(int16_t, int16)
MLX_TYPE_TO_DTYPE(int32_t, int32)
MLX_TYPE_TO_DTYPE(long, int64)
MLX_TYPE_TO_DTYPE(long long, int64)
MLX_TYPE_TO_DTYPE(float16_t, float16)
MLX_TYPE_TO_DTYPE(bfloat16_t, bfloat16)
MLX_TYPE_TO_DTYPE(float, float32)
MLX_TYPE_TO_DTYPE(double, float32)  // a C++ double literal means a float32 array
MLX_TYPE_TO_DTYPE(complex64_t, complex64)
#undef MLX_TYPE_TO_DTYPE

std::string dtype_to_array_protocol(const Dtype& t) {
  std::string order = t.size() > 1 ? "<" : "|";
  const char* kinds = "buifcV";
  return order + kinds[static_cast<int>(kindof(t))] + std::to_string(t.size());
}

Dtype dtype_from_array_protocol(const std::string& text) {
  std::string name = text.size() == 3 ? text.substr(1) : text;
  for (Dtype t : {bool_, uint8, uint16, uint32, uint64, int8, int16, int32, int64, float16, float32,
                  float64, bfloat16, complex64}) {
    if (text.substr(0, 1) != ">" && dtype_to_array_protocol(t).substr(1) == name) {
      return t;
    }
  }
  invalid_argument("dtype_from_array_protocol", "No type of arrays is called " + text + ".");
}

namespace {

template <typename T>
void set_limits(finfo& info) {
  using Limits = std::numeric_limits<T>;
  info.min = Limits::lowest();
  info.max = Limits::max();
  info.eps = Limits::epsilon();
  info.smallest_normal = Limits::min();
}

template <typename T>
void set_limits(iinfo& info) {
  info.min = static_cast<int64_t>(std::numeric_limits<T>::min());
  info.max = static_cast<uint64_t>(std::numeric_limits<T>::max());
}

}  // namespace

finfo::finfo(Dtype t) : dtype(t) {
  switch (t.val()) {
    case Dtype::Val::float16:
      min = -65504, max = 65504, eps = 0x1p-10, smallest_normal = 0x1p-14;
      break;
    case Dtype::Val::bfloat16:
      min = -0x1.fep127, max = 0x1.fep127, eps = 0x1p-7, smallest_normal = 0x1p-126;
      break;
    case Dtype::Val::float64:
      set_limits<double>(*this);
      break;
    case Dtype::Val::float32:
      set_limits<float>(*this);
      break;
    case Dtype::Val::complex64:
      dtype = float32;
      set_limits<float>(*this);
      break;
    default:
      invalid_argument("finfo",
                       "The type must be a floating point type, not " + dtype_to_string(t) + ".");
  }
}

iinfo::iinfo(Dtype t) : dtype(t) {
  switch (t.val()) {
    case Dtype::Val::uint8:
      set_limits<uint8_t>(*this);
      break;
    case Dtype::Val::uint16:
      set_limits<uint16_t>(*this);
      break;
    case Dtype::Val::uint32:
      set_limits<uint32_t>(*this);
      break;
    case Dtype::Val::uint64:
      set_limits<uint64_t>(*this);
      break;
    case Dtype::Val::int8:
      set_limits<int8_t>(*this);
      break;
    case Dtype::Val::int16:
      set_limits<int16_t>(*this);
      break;
    case Dtype::Val::int32:
      set_limits<int32_t>(*this);
      break;
    case Dtype::Val::int64:
      set_limits<int64_t>(*this);
      break;
    default:
      invalid_argument("iinfo",
                       "The type must be an integer type, not " + dtype_to_string(t) + ".");
  }
}

}  // namespace mlx::core
