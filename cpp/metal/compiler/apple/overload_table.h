// The functions of Apple's library whose scalar overloads differ in one type T, as its
// specification declares them: `T max(T x, T y)`.
#pragma once

#include <cstdint>
#include <string_view>

namespace metal::compiler::apple {

enum class Types : uint8_t {
  Floats,    // half and float
  Integers,  // of all sizes, without bool
  Words,     // int and uint
  Numbers,   // floats and integers
};

struct OverloadedFunction {
  std::string_view name;
  Types types;
  uint8_t arguments;  // the first ones, which are of type T
  bool bfloat;        // MLX's headers have an overload of bfloat
};

inline constexpr OverloadedFunction kOverloadedFunctions[] = {
    {"abs", Types::Numbers, 1, true},      {"absdiff", Types::Integers, 2, false},
    {"acos", Types::Floats, 1, true},      {"acosh", Types::Floats, 1, true},
    {"addsat", Types::Integers, 2, false}, {"asin", Types::Floats, 1, true},
    {"asinh", Types::Floats, 1, true},     {"atan", Types::Floats, 1, true},
    {"atan2", Types::Floats, 2, true},     {"atanh", Types::Floats, 1, true},
    {"ceil", Types::Floats, 1, true},      {"clamp", Types::Numbers, 3, false},
    {"copysign", Types::Floats, 2, false}, {"cos", Types::Floats, 1, true},
    {"cosh", Types::Floats, 1, true},      {"cospi", Types::Floats, 1, true},
    {"divide", Types::Floats, 2, true},    {"exp", Types::Floats, 1, true},
    {"exp10", Types::Floats, 1, true},     {"exp2", Types::Floats, 1, true},
    {"fabs", Types::Floats, 1, true},      {"fdim", Types::Floats, 2, true},
    {"floor", Types::Floats, 1, true},     {"fma", Types::Floats, 3, true},
    {"fmax", Types::Floats, 2, true},      {"fmax3", Types::Floats, 3, true},
    {"fmedian3", Types::Floats, 3, true},  {"fmin", Types::Floats, 2, true},
    {"fmin3", Types::Floats, 3, true},     {"fmod", Types::Floats, 2, true},
    {"fract", Types::Floats, 1, true},     {"hadd", Types::Integers, 2, false},
    {"isfinite", Types::Floats, 1, false}, {"isinf", Types::Floats, 1, false},
    {"isnan", Types::Floats, 1, false},    {"isnormal", Types::Floats, 1, false},
    {"ldexp", Types::Floats, 1, true},     {"log", Types::Floats, 1, true},
    {"log10", Types::Floats, 1, true},     {"log2", Types::Floats, 1, true},
    {"mad24", Types::Words, 3, false},     {"madhi", Types::Integers, 3, false},
    {"madsat", Types::Integers, 3, false}, {"max", Types::Numbers, 2, true},
    {"max3", Types::Numbers, 3, true},     {"median3", Types::Numbers, 3, true},
    {"min", Types::Numbers, 2, true},      {"min3", Types::Numbers, 3, true},
    {"mix", Types::Floats, 3, false},      {"mul24", Types::Words, 2, false},
    {"mulhi", Types::Integers, 2, false},  {"nextafter", Types::Floats, 2, true},
    {"pow", Types::Floats, 2, true},       {"powr", Types::Floats, 2, true},
    {"rhadd", Types::Integers, 2, false},  {"rint", Types::Floats, 1, true},
    {"rotate", Types::Integers, 2, false}, {"round", Types::Floats, 1, true},
    {"rsqrt", Types::Floats, 1, true},     {"saturate", Types::Floats, 1, false},
    {"select", Types::Numbers, 2, false},  {"sign", Types::Floats, 1, false},
    {"sin", Types::Floats, 1, true},       {"sinh", Types::Floats, 1, true},
    {"sinpi", Types::Floats, 1, true},     {"smoothstep", Types::Floats, 3, false},
    {"sqrt", Types::Floats, 1, true},      {"step", Types::Floats, 2, false},
    {"subsat", Types::Integers, 2, false}, {"tan", Types::Floats, 1, true},
    {"tanh", Types::Floats, 1, true},      {"tanpi", Types::Floats, 1, true},
    {"trunc", Types::Floats, 1, true},
};

}  // namespace metal::compiler::apple
