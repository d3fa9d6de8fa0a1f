// A k-d tree of one cloud of points in any number of dimensions, laid out for the search kernel.
// nanoflann's trees cannot be read by a GPU, and are slower on the same cores: benchmarks/sparse.py
// measures both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace mlx_sample {

// Factor of the squared distance to a box before its points are ruled out, since distances to boxes
// and to points may be rounded differently.
inline float slack_of(size_t dims) {
  return 1 - (static_cast<float>(dims) + 8) * std::numeric_limits<float>::epsilon();
}

// Nodes are numbered as in a heap: 2 i + 1 and 2 i + 2 below i; the leaves come last.
class Tree {
 public:
  // Leaves have at most so many points. Points with coordinates that are not finite are omitted.
  Tree(const float* points, size_t count, size_t dims, size_t leaf_points);

  // The largest number of positions in the leaves of trees over so many points, and of leaves.
  static size_t most_leaves(size_t points, size_t trees, size_t leaf_points) {
    return trees + 2 * points / leaf_points;
  }
  static size_t most_places(size_t points, size_t trees, size_t leaf_points) {
    return points + kRounding * most_leaves(points, trees, leaf_points);
  }

  // The leaf around a position: queries with the same leaf find their neighbours in the same
  // memory.
  size_t home(const float* query) const;

  size_t leaf_count() const { return size_t(1) << depth_; }
  // Positions in a leaf.
  size_t stride() const { return stride_; }
  // For each node: the minimum of each coordinate, then the maxima.
  const std::vector<float>& boxes() const { return boxes_; }
  // Coordinate k of a leaf's point i: [(leaf * dims + k) * stride + i].
  const std::vector<float>& leaves() const { return leaves_; }
  // The start of each leaf in the order, and the end.
  const std::vector<int32_t>& starts() const { return starts_; }
  // Indices of points, by leaf.
  const std::vector<int32_t>& order() const { return order_; }

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

}  // namespace mlx_sample
