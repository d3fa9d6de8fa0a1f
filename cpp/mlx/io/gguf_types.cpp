// The types of the format GGUF.
#include <algorithm>

#include "mlx/io/gguf.h"

namespace mlx::core::io {

namespace {

struct NumberedType {
  uint32_t number;
  Dtype dtype;
};

constexpr NumberedType kArrayTypes[] = {{0, float32}, {1, float16}, {24, int8},    {25, int16},
                                        {26, int32},  {27, int64},  {28, float64}, {30, bfloat16}};

constexpr NumberedType kMetadataTypes[] = {{0, uint8},   {1, int8},   {2, uint16},  {3, int16},
                                           {4, uint32},  {5, int32},  {6, float32}, {7, bool_},
                                           {10, uint64}, {11, int64}, {12, float64}};

struct TypeName {
  uint32_t number;
  const char* name;
};

constexpr TypeName kNames[] = {
    {0, "F32"},     {1, "F16"},    {2, "Q4_0"},     {3, "Q4_1"},    {6, "Q5_0"},     {7, "Q5_1"},
    {8, "Q8_0"},    {9, "Q8_1"},   {10, "Q2_K"},    {11, "Q3_K"},   {12, "Q4_K"},    {13, "Q5_K"},
    {14, "Q6_K"},   {15, "Q8_K"},  {16, "IQ2_XXS"}, {17, "IQ2_XS"}, {18, "IQ3_XXS"}, {19, "IQ1_S"},
    {20, "IQ4_NL"}, {21, "IQ3_S"}, {22, "IQ2_S"},   {23, "IQ4_XS"}, {24, "I8"},      {25, "I16"},
    {26, "I32"},    {27, "I64"},   {28, "F64"},     {29, "IQ1_M"},  {30, "BF16"},    {34, "TQ1_0"},
    {35, "TQ2_0"},  {39, "MXFP4"}};

template <size_t N>
std::optional<Dtype> type_with(const NumberedType (&types)[N], uint32_t number) {
  for (const auto& type : types) {
    if (type.number == number) return type.dtype;
  }
  return std::nullopt;
}

template <size_t N>
std::optional<uint32_t> number_of(const NumberedType (&types)[N], Dtype dtype) {
  for (const auto& type : types) {
    if (type.dtype == dtype) return type.number;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Dtype> gguf_array_type(uint32_t number) { return type_with(kArrayTypes, number); }
std::optional<uint32_t> gguf_array_number(Dtype dtype) { return number_of(kArrayTypes, dtype); }
std::optional<Dtype> gguf_metadata_type(uint32_t number) {
  return type_with(kMetadataTypes, number);
}
std::optional<uint32_t> gguf_metadata_number(Dtype dtype) {
  return number_of(kMetadataTypes, dtype);
}

std::string gguf_type_name(uint32_t number) {
  for (const auto& type : kNames) {
    if (type.number == number) return type.name;
  }
  return "number " + std::to_string(number);
}

}  // namespace mlx::core::io
