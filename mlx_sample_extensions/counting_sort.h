// Counting sort: sorts entries by small integer keys in time proportional to both.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace mlx_sample {

// Sorts t = 0, ..., count - 1 by key(t) < keys, keeping the order of equal keys, and calls put(t,
// place) for each. starts[0] to starts[keys] become the start of each key. Returns false, without
// calling put, if the entries are already sorted.
template <typename Key, typename Put>
bool counting_sort(int32_t count, size_t keys, Key key, int32_t* starts, Put put) {
  std::fill_n(starts, keys + 1, 0);
  size_t last = 0;
  bool sorted = true;
  for (int32_t t = 0; t < count; ++t) {
    size_t k = key(t);
    ++starts[k];
    sorted &= k >= last;
    last = k;
  }
  int32_t sum = 0;
  for (size_t k = 0; k <= keys; ++k) {
    sum += std::exchange(starts[k], sum);
  }
  if (sorted) {
    return false;
  }
  for (int32_t t = 0; t < count; ++t) {
    put(t, starts[key(t)]++);
  }
  // Each start has been advanced to the next one.
  std::copy_backward(starts, starts + keys, starts + keys + 1);
  starts[0] = 0;
  return true;
}

}  // namespace mlx_sample
