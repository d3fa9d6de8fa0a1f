// A k-d tree over one cloud of points: exact searches in any number of dimensions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mlx_sample {

// The nearest points so far, at most `capacity`.
class Nearest {
 public:
  // A squared distance and an index as one number: their order is that of the distances, and of the
  // indices at the same distance, so that results do not depend on the tree.
  using Key = uint64_t;

  explicit Nearest(size_t capacity) : capacity_(capacity) { keys_.reserve(capacity + 1); }

  void clear() { keys_.clear(); }
  size_t size() const { return keys_.size(); }
  // The largest squared distance of interest: `limit` as long as there is room.
  float bound(float limit) const {
    return keys_.size() < capacity_ ? limit : capacity_ == 0 ? -1.0f : worst();
  }
  void add(float square, int32_t index);
  // Puts them in order, nearest first.
  void sort();
  float square(size_t i) const { return square_of(keys_[i]); }
  int32_t index(size_t i) const { return static_cast<int32_t>(keys_[i]); }

 private:
  // Up to so many keys are kept in order; more are a heap.
  static constexpr size_t kSorted = 48;
  static float square_of(Key key) { return std::bit_cast<float>(static_cast<uint32_t>(key >> 32)); }
  float worst() const { return square_of(capacity_ <= kSorted ? keys_.back() : keys_[0]); }

  size_t capacity_;
  std::vector<Key> keys_;
};

// What a search looks for: points at a squared distance of at most `limit`; all of them, so as to
// count them, or only those that are nearer than what is there already.
struct Search {
  float limit;
  bool all;
};

class Tree {
 public:
  // Points with coordinates that are not finite are left out.
  Tree(const float* points, size_t count, size_t dims);

  // The leaf around a place: queries with the same leaf find their neighbours in the same memory.
  size_t home(const float* query) const;
  size_t leaves() const { return size_t(1) << depth_; }

  // Adds points to `nearest`; returns how many it has seen within the limit.
  size_t find(const float* query, const Search& search, Nearest& nearest) const;

 private:
  void split_level(int level, const float* points);
  void fill_leaves(const float* points);
  void fill_boxes();
  float* box(size_t node) { return boxes_.data() + node * 2 * dims_; }

  size_t dims_;
  int depth_ = 0;
  size_t stride_ = 0;  // places of a leaf, a multiple of 8
  // Nodes are numbered as in a heap: 2 i + 1 and 2 i + 2 below i; the leaves come last.
  std::vector<int32_t> starts_;  // of each leaf in the order, and the end
  std::vector<int32_t> order_;   // indices of points, by leaf
  std::vector<float> leaves_;  // coordinate k of a leaf's point i: [(leaf * dims + k) * stride + i]
  std::vector<float> boxes_;   // of each node: the least of each coordinate, then the largest
};

}  // namespace mlx_sample
