// The nearest points with nanoflann's k-d tree. Each point is a query; threads share the queries in
// the order of the tree's leaves.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <nanoflann.hpp>
#include <thread>
#include <vector>

namespace {

struct Points {
  const float* values;
  size_t count;
  size_t dims;

  size_t kdtree_get_point_count() const { return count; }
  float kdtree_get_pt(size_t i, size_t k) const { return values[i * dims + k]; }
  template <typename Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};

using Metric = nanoflann::L2_Simple_Adaptor<float, Points, float, int32_t>;

// Dims is the number of coordinates, or -1 for any number.
template <int Dims>
void search(const Points& points, size_t k, int leaf_points, int threads, int32_t* indices,
            float* distances) {
  using Tree = nanoflann::KDTreeSingleIndexAdaptor<Metric, Points, Dims, int32_t>;
  Tree tree(static_cast<int>(points.dims), points, {static_cast<size_t>(leaf_points)});
  tree.buildIndex();
  constexpr size_t kGrain = 128;
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t first; (first = next.fetch_add(kGrain)) < points.count;) {
      for (size_t place = first; place < std::min(first + kGrain, points.count); ++place) {
        auto query = static_cast<size_t>(tree.vAcc[place]);
        float* squares = distances + query * k;
        tree.knnSearch(points.values + query * points.dims, k, indices + query * k, squares);
        std::transform(squares, squares + k, squares, [](float x) { return std::sqrt(x); });
      }
    }
  };
  std::vector<std::jthread> others;
  for (int i = 1; i < threads; ++i) {
    others.emplace_back(work);
  }
  work();
}

}  // namespace

extern "C" void nearest(const float* values, size_t count, size_t dims, size_t k, int leaf_points,
                        int threads, int32_t* indices, float* distances) {
  Points points{values, count, dims};
  (dims == 3 ? search<3> : search<-1>)(points, k, leaf_points, threads, indices, distances);
}
