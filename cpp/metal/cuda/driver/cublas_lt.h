// The functions of NVIDIA's cuBLASLt that are used here. Like the driver's, they are found at run
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace metal::cuda {

class Gpu;

// Handles and constants of the library's binary interface, which versions 12 and 13 share.
using CublasHandle = struct CublasHandleObject*;
using CublasProduct = struct CublasProductObject*;
using CublasLayout = struct CublasLayoutObject*;
using CublasPreference = struct CublasPreferenceObject*;

enum class CublasStatus : int { Success = 0, NotSupported = 15 };

enum class CublasType : int { Float32 = 0, Float16 = 2, Complex64 = 4, Bfloat16 = 14 };

inline constexpr int kComputeFloat32 = 68;  // without the rounding of inputs to TF32
inline constexpr int kTransposed = 1;
inline constexpr int kAddBias = 4;
// Parts of a product are added up in the type of the sums, not in that of the result.
inline constexpr uint32_t kReduceInComputeType = 3;

enum class ProductAttribute : int { TransposeA = 3, TransposeB = 4, Epilogue = 7, Bias = 8 };
enum class LayoutAttribute : int { BatchCount = 5, BatchStep = 6 };
enum class PreferenceAttribute : int {
  MaxWorkspaceBytes = 1,
  ReductionSchemes = 3,
  AlignmentA = 5,
  AlignmentB = 6,
  AlignmentC = 7,
  AlignmentD = 8,
};

struct CublasAlgorithm {
  uint64_t data[8];
};

struct CublasChoice {
  CublasAlgorithm algorithm;
  size_t workspace_bytes;
  CublasStatus status;
  float waves;
  int reserved[4];
};

// One entry for each function: its name in the library and the types of its arguments.
#define METAL_CUBLAS_FUNCTIONS(F)                                                             \
  F(cublasLtCreate, CublasHandle*)                                                            \
  F(cublasLtMatmulDescCreate, CublasProduct*, int, CublasType)                                \
  F(cublasLtMatmulDescDestroy, CublasProduct)                                                 \
  F(cublasLtMatmulDescSetAttribute, CublasProduct, ProductAttribute, const void*, size_t)     \
  F(cublasLtMatrixLayoutCreate, CublasLayout*, CublasType, uint64_t, uint64_t, int64_t)       \
  F(cublasLtMatrixLayoutDestroy, CublasLayout)                                                \
  F(cublasLtMatrixLayoutSetAttribute, CublasLayout, LayoutAttribute, const void*, size_t)     \
  F(cublasLtMatmulPreferenceCreate, CublasPreference*)                                        \
  F(cublasLtMatmulPreferenceDestroy, CublasPreference)                                        \
  F(cublasLtMatmulPreferenceSetAttribute, CublasPreference, PreferenceAttribute, const void*, \
    size_t)                                                                                   \
  F(cublasLtMatmulAlgoGetHeuristic, CublasHandle, CublasProduct, CublasLayout, CublasLayout,  \
    CublasLayout, CublasLayout, CublasPreference, int, CublasChoice*, int*)                   \
  F(cublasLtMatmul, CublasHandle, CublasProduct, const void*, const void*, CublasLayout,      \
    const void*, CublasLayout, const void*, const void*, CublasLayout, void*, CublasLayout,   \
    const CublasAlgorithm*, void*, size_t, void*)

struct CublasApi {
#define METAL_CUBLAS_MEMBER(name, ...) CublasStatus (*name)(__VA_ARGS__) = nullptr;
  METAL_CUBLAS_FUNCTIONS(METAL_CUBLAS_MEMBER)
#undef METAL_CUBLAS_MEMBER
  const char* (*cublasLtGetStatusString)(CublasStatus) = nullptr;
  CublasHandle handle = nullptr;

  // Throws std::runtime_error unless the library has done what `action` says.
  void check(CublasStatus status, const char* action) const;
};

// Loads and starts the library at the first call for each GPU, whose context must be current. Null
// if none can be used.
const CublasApi* cublas_api(const Gpu& gpu);

}  // namespace metal::cuda
