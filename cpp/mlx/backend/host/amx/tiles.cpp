#include "mlx/backend/host/amx/tiles.h"

#if defined(__x86_64__)

#include <asm/prctl.h>
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

// Older system headers lack it.
#ifndef ARCH_REQ_XCOMP_PERM
#define ARCH_REQ_XCOMP_PERM 0x1023
#endif

namespace mlx::core::cpu {

namespace {

// The number of the tiles' data among the states that the system saves for a thread.
constexpr long kTileData = 18;

bool processor_has_amx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kAmxBf16 = 1u << 22, kAmxTile = 1u << 24;
  return (d & kAmxBf16) != 0 && (d & kAmxTile) != 0;
}

bool processor_has_vectors() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
         __builtin_cpu_supports("avx512bf16");
}

// The operand of LDTILECFG.
struct alignas(64) TileConfiguration {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

}  // namespace

bool has_amx() {
  static const bool usable = processor_has_amx() && processor_has_vectors() &&
                             syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, kTileData) == 0;
  return usable;
}

AmxTiles::AmxTiles() {
  constexpr int kTiles = 8;
  TileConfiguration configuration;
  std::fill_n(configuration.row_bytes, kTiles, uint16_t{kTileRowBytes});
  std::fill_n(configuration.rows, kTiles, uint8_t{kTileRows});
  // GCC takes the operand for a pointer, and would leave the rest of the configuration out.
  asm volatile("" : : "r"(&configuration) : "memory");
  _tile_loadconfig(&configuration);
}

AmxTiles::~AmxTiles() { _tile_release(); }

}  // namespace mlx::core::cpu

#else

namespace mlx::core::cpu {

bool has_amx() { return false; }

}  // namespace mlx::core::cpu

#endif
