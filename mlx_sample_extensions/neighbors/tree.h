// A k-d tree over one cloud of points: exact searches in any number of dimensions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
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

// What a search reads. Nodes are numbered as in a heap: 2 i + 1 and 2 i + 2 below i; the leaves
// come last.
struct TreeView {
  const float* boxes;     // of each node: the least of each coordinate, then the largest
  const float* leaves;    // coordinate k of a leaf's point i: [(leaf * dims + k) * stride + i]
  const int32_t* starts;  // of each leaf in the order, and the end
  const int32_t* order;   // indices of points, by leaf
  size_t dims;
  size_t stride;  // places of a leaf, a multiple of 8
  size_t inner;   // nodes above the leaves

  size_t leaf_count() const { return inner + 1; }
  size_t node_count() const { return inner + leaf_count(); }
  size_t points() const { return starts[leaf_count()]; }
};

// What a squared distance to a box is multiplied by before points in the box are ruled out, as
// distances to boxes and to points may be rounded differently.
inline float slack_of(size_t dims) {
  return 1 - (static_cast<float>(dims) + 8) * std::numeric_limits<float>::epsilon();
}

class Tree {
 public:
  // Leaves have at most so many points. Points with coordinates that are not finite are left out.
  Tree(const float* points, size_t count, size_t dims, size_t leaf_points);

  // The most places that the leaves of trees over so many points in all have, and the most leaves.
  static size_t most_leaves(size_t points, size_t trees, size_t leaf_points) {
    return trees + 2 * points / leaf_points;
  }
  static size_t most_places(size_t points, size_t trees, size_t leaf_points) {
    return points + kRounding * most_leaves(points, trees, leaf_points);
  }

  // The leaf around a place: queries with the same leaf find their neighbours in the same memory.
  size_t home(const float* query) const;
  size_t leaves() const { return size_t(1) << depth_; }
  TreeView view() const;

  // Adds points to `nearest`; returns how many it has seen within the limit.
  size_t find(const float* query, const Search& search, Nearest& nearest) const;

 private:
  static constexpr size_t kRounding = 8;

  void split_level(int level, const float* points);
  void fill_leaves(const float* points);
  void fill_boxes();
  float* box(size_t node) { return boxes_.data() + node * 2 * dims_; }

  size_t dims_;
  int depth_ = 0;
  size_t stride_ = 0;
  std::vector<int32_t> starts_;
  std::vector<int32_t> order_;
  std::vector<float> leaves_;
  std::vector<float> boxes_;
};

// How many points a leaf should have where a processor of the host looks at 8 at a time.
size_t points_of_leaf(size_t dims);

}  // namespace mlx_sample
