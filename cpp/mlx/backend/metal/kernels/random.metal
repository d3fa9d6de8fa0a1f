// Random bits by Threefry-2x32 with twenty rounds (Salmon et al., SC 2011).
#include <metal_stdlib>

using namespace metal;

struct RandomParams {
  uint64_t bytes_per_key;
  uint32_t words;  // of 32 bits, for one key
  uint32_t padding;
};

inline uint2 threefry2x32(uint2 key, uint2 counter) {
  const uint4 even = uint4(13, 15, 26, 6);
  const uint4 odd = uint4(17, 29, 16, 24);
  uint schedule[3] = {key.x, key.y, key.x ^ key.y ^ 0x1BD11BDAu};
  uint x = counter.x + schedule[0];
  uint y = counter.y + schedule[1];
  for (int i = 0; i < 5; ++i) {
    for (int r = 0; r < 4; ++r) {
      uint distance = (i % 2 == 0) ? even[r] : odd[r];
      x += y;
      y = ((y << distance) | (y >> (32 - distance))) ^ x;
    }
    x += schedule[(i + 1) % 3];
    y += schedule[(i + 2) % 3] + uint(i + 1);
  }
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

// Keys whose bytes are whole words; the grid is (blocks, keys). An odd number of words leaves half a block unused.
[[kernel]] void random_words(const device uint* keys [[buffer(0)]], device uint* out [[buffer(1)]],
                             constant const RandomParams& p [[buffer(2)]],
                             uint2 pos [[thread_position_in_grid]], uint2 grid [[threads_per_grid]]) {
  bool lone = pos.x == grid.x - 1 && (p.words & 1) != 0;
  uint2 key = uint2(keys[2 * pos.y], keys[2 * pos.y + 1]);
  uint2 bits = threefry2x32(key, uint2(pos.x, lone ? 0 : grid.x + pos.x));
  out += static_cast<uint64_t>(pos.y) * p.words;
  out[pos.x] = bits.x;
  if (!lone) {
    out[grid.x + pos.x] = bits.y;
  }
}

[[kernel]] void random_bytes(const device uint* keys [[buffer(0)]], device uint8_t* out [[buffer(1)]],
                             constant const RandomParams& p [[buffer(2)]],
                             uint2 pos [[thread_position_in_grid]], uint2 grid [[threads_per_grid]]) {
  bool lone = pos.x == grid.x - 1 && (p.words & 1) != 0;
  uint2 key = uint2(keys[2 * pos.y], keys[2 * pos.y + 1]);
  uint2 bits = threefry2x32(key, uint2(pos.x, lone ? 0 : grid.x + pos.x));
  out += pos.y * p.bytes_per_key;
  store_word(out, p, pos.x, bits.x);
  if (!lone) {
    store_word(out, p, grid.x + pos.x, bits.y);
  }
}
