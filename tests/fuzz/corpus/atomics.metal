#include <metal_stdlib>
using namespace metal;
kernel void f(device atomic<float>* sums [[buffer(0)]], device atomic_uint* counts [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  threadgroup atomic_int shared;
  atomic_store_explicit(&shared, 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&sums[i % 4], 1.5f, memory_order_relaxed);
  uint expected = 1;
  while (!atomic_compare_exchange_weak_explicit(counts, &expected, expected + 1, memory_order_relaxed, memory_order_relaxed)) {}
  atomic_fetch_max_explicit(&shared, int(i), memory_order_relaxed);
}
