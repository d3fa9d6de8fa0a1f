// Random bits by Threefry-2x32 with twenty rounds (Salmon et al., SC 2011).
#include <metal_stdlib>

using namespace metal;

struct RandomParams {
  uint64_t bytes_per_key;
  uint32_t words;  // of 32 bits, for one key
  uint32_t padding;
};

// Written without arrays or inner loops, so that neighbouring counters are hashed in vector code.
#define MLX_MIX(distance) \
  x += y;                 \
  y = ((y << distance) | (y >> (32 - distance))) ^ x;
#define MLX_FOUR_ROUNDS(a, b, c, d, add_x, add_y)         \
  MLX_MIX(a) MLX_MIX(b) MLX_MIX(c) MLX_MIX(d) x += add_x; \
  y += add_y;

inline uint2 threefry2x32(uint k0, uint k1, uint x, uint y) {
  uint k2 = k0 ^ k1 ^ 0x1BD11BDAu;
  x += k0;
  y += k1;
  MLX_FOUR_ROUNDS(13, 15, 26, 6, k1, k2 + 1)
  MLX_FOUR_ROUNDS(17, 29, 16, 24, k2, k0 + 2)
  MLX_FOUR_ROUNDS(13, 15, 26, 6, k0, k1 + 3)
  MLX_FOUR_ROUNDS(17, 29, 16, 24, k1, k2 + 4)
  MLX_FOUR_ROUNDS(13, 15, 26, 6, k2, k0 + 5)
  return uint2(x, y);
}

// The last word of a key may be incomplete, and rows of bytes need not be aligned.
inline void store_word(device uint8_t* out, constant const RandomParams& p, uint word, uint value) {
  uint64_t at = static_cast<uint64_t>(word) * 4;
  for (uint k = 0; k < 4; ++k) {
    if (at + k < p.bytes_per_key) {
      out[at + k] = static_cast<uint8_t>(value >> (8 * k));
    }
  }
}

// An even number of whole words for each key; the grid is (blocks, keys).
[[kernel]] void random_words(const constant uint* keys [[buffer(0)]],
                             device uint* out [[buffer(1)]],
                             constant const RandomParams& p [[buffer(2)]],
                             uint2 pos [[thread_position_in_grid]],
                             uint2 grid [[threads_per_grid]]) {
  uint2 bits = threefry2x32(keys[2 * pos.y], keys[2 * pos.y + 1], pos.x, grid.x + pos.x);
  out += static_cast<uint64_t>(pos.y) * p.words;
  out[pos.x] = bits.x;
  out[grid.x + pos.x] = bits.y;
}

// Any number of bytes. An odd number of words wastes half a block.
[[kernel]] void random_bytes(const constant uint* keys [[buffer(0)]],
                             device uint8_t* out [[buffer(1)]],
                             constant const RandomParams& p [[buffer(2)]],
                             uint2 pos [[thread_position_in_grid]],
                             uint2 grid [[threads_per_grid]]) {
  bool lone = pos.x == grid.x - 1 && (p.words & 1) != 0;
  uint2 bits = threefry2x32(keys[2 * pos.y], keys[2 * pos.y + 1], pos.x, lone ? 0 : grid.x + pos.x);
  out += pos.y * p.bytes_per_key;
  store_word(out, p, pos.x, bits.x);
  if (!lone) {
    store_word(out, p, grid.x + pos.x, bits.y);
  }
}
