// The functions of NVIDIA's cuFFT that are used here, found at run time.
#pragma once

#include <cstddef>
#include <string>

namespace metal::cuda {

// Handles and constants of the library's binary interface, which versions 11 and 12 share.
using CufftHandle = int;

enum class CufftResult : int { Success = 0, InvalidSize = 8 };
enum class CufftType : int { RealToComplex = 0x2a, ComplexToReal = 0x2c, Complex = 0x29 };
inline constexpr int kCufftForward = -1, kCufftInverse = 1;

// One entry for each function: its name in the library and the types of its arguments. `long long`
// is the library's own type.
#define METAL_CUFFT_FUNCTIONS(F)                                                         \
  F(cufftCreate, CufftHandle*)                                                           \
  F(cufftDestroy, CufftHandle)                                                           \
  F(cufftSetAutoAllocation, CufftHandle, int)                                            \
  F(cufftMakePlanMany64, CufftHandle, int, long long*, long long*, long long, long long, \
    long long*, long long, long long, CufftType, long long, size_t*)                     \
  F(cufftSetStream, CufftHandle, void*)                                                  \
  F(cufftSetWorkArea, CufftHandle, void*)                                                \
  F(cufftExecC2C, CufftHandle, void*, void*, int)                                        \
  F(cufftExecR2C, CufftHandle, void*, void*)                                             \
  F(cufftExecC2R, CufftHandle, void*, void*)

struct CufftApi {
#define METAL_CUFFT_MEMBER(name, ...) CufftResult (*name)(__VA_ARGS__) = nullptr;
  METAL_CUFFT_FUNCTIONS(METAL_CUFFT_MEMBER)
#undef METAL_CUFFT_MEMBER

  // Throws std::runtime_error unless the library has done what `action` says.
  static void check(CufftResult result, const char* action);
};

// Loads the library at the first call. Null if none can be used.
const CufftApi* cufft_api();

}  // namespace metal::cuda
