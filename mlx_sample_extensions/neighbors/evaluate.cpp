// Evaluation of searches: a tree for each cloud, and queries in the order of its leaves.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "counting_sort.h"
#include "mlx/backend/cpu/encoder.h"
#include "mlx/backend/cpu/parallel.h"
#include "neighbors/primitives.h"
#include "neighbors/tree.h"

namespace mlx_sample {

namespace {

constexpr size_t kGrain = 128;  // queries

struct Task {
  const float* points;
  const float* queries;
  const int32_t* offsets;
  const int32_t* query_offsets;
  size_t clouds;
  size_t dims;
  size_t k;
  float radius;
  int32_t* indices;
  float* distances;
  int32_t* counts;
};

// The queries of a cloud, those that are near each other next to each other.
std::vector<int32_t> by_leaf(const Tree& tree, const float* queries, size_t count, size_t dims) {
  std::vector<int32_t> leaf(count);
  mx::cpu::parallel_for(count, 1024, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      leaf[i] = static_cast<int32_t>(tree.home(queries + i * dims));
    }
  });
  std::vector<int32_t> starts(tree.leaves() + 1);
  std::vector<int32_t> order(count);
  auto key = [&](int32_t i) { return leaf[i]; };
  auto put = [&](int32_t i, int32_t place) { order[place] = i; };
  if (!counting_sort(static_cast<int32_t>(count), tree.leaves(), key, starts.data(), put)) {
    std::iota(order.begin(), order.end(), 0);
  }
  return order;
}

void store(const Task& t, size_t query, int32_t first_point, size_t seen, Nearest& nearest) {
  nearest.sort();
  int32_t* indices = t.indices + query * t.k;
  float* distances = t.distances + query * t.k;
  for (size_t i = 0; i < t.k; ++i) {
    bool there = i < nearest.size();
    indices[i] = there ? first_point + nearest.index(i) : -1;
    distances[i] = there ? std::sqrt(nearest.square(i)) : std::numeric_limits<float>::infinity();
  }
  t.counts[query] = static_cast<int32_t>(std::isinf(t.radius) ? nearest.size() : seen);
}

void search_cloud(const Task& t, size_t cloud) {
  int32_t first_point = t.offsets[cloud];
  size_t first_query = t.query_offsets[cloud];
  size_t queries = t.query_offsets[cloud + 1] - first_query;
  if (queries == 0) {
    return;
  }
  Tree tree(t.points + first_point * t.dims, t.offsets[cloud + 1] - first_point, t.dims);
  auto order = by_leaf(tree, t.queries + first_query * t.dims, queries, t.dims);
  Search search{t.radius * t.radius, !std::isinf(t.radius)};
  mx::cpu::parallel_for(queries, kGrain, [&](size_t first, size_t last) {
    Nearest nearest(t.k);
    for (size_t i = first; i < last; ++i) {
      size_t query = first_query + order[i];
      nearest.clear();
      size_t seen = tree.find(t.queries + query * t.dims, search, nearest);
      store(t, query, first_point, seen, nearest);
    }
  });
}

}  // namespace

void Neighbors::eval_cpu(const Arrays& inputs, Arrays& outputs) {
  for (auto& out : outputs) {
    out.set_data(mx::allocator::malloc(out.nbytes()));
  }
  Task task{inputs[0].data<float>(),
            inputs[1].data<float>(),
            inputs[2].data<int32_t>(),
            inputs[3].data<int32_t>(),
            size_t(inputs[2].shape(0) - 1),
            size_t(inputs[0].shape(1)),
            size_t(k_),
            radius_,
            outputs[0].data<int32_t>(),
            outputs[1].data<float>(),
            outputs[2].data<int32_t>()};
  mx::cpu::get_command_encoder(stream()).dispatch([task] {
    mx::cpu::parallel_for(task.clouds, 1, [&](size_t first, size_t last) {
      for (size_t cloud = first; cloud < last; ++cloud) {
        search_cloud(task, cloud);
      }
    });
  });
}

}  // namespace mlx_sample
