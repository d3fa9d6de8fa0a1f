// Evaluation of searches: a tree for each cloud, and queries in the order of its leaves. The host
// builds the trees; it searches them itself, or kernels of the Metal device do.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "counting_sort.h"
#include "evaluation.h"
#include "mlx/backend/cpu/encoder.h"
#include "mlx/backend/cpu/parallel.h"
#include "mlx/backend/metal/device.h"
#include "mlx/backend/metal/utils.h"
#include "mlx/utils.h"
#include "neighbors/primitives.h"
#include "neighbors/sizes.h"
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
  Tree tree(t.points + first_point * t.dims, t.offsets[cloud + 1] - first_point, t.dims,
            points_of_leaf(t.dims));
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

// Allocates the outputs.
Task task_of(const Arrays& inputs, Arrays& outputs, int k, float radius) {
  for (auto& out : outputs) {
    out.set_data(mx::allocator::malloc(out.nbytes()));
  }
  return {inputs[0].data<float>(),
          inputs[1].data<float>(),
          inputs[2].data<int32_t>(),
          inputs[3].data<int32_t>(),
          size_t(inputs[2].shape(0) - 1),
          size_t(inputs[0].shape(1)),
          size_t(k),
          radius,
          outputs[0].data<int32_t>(),
          outputs[1].data<float>(),
          outputs[2].data<int32_t>()};
}

// ---- for the Metal device ----

// The trees of all clouds, each in a part of its own of arrays that are large enough whatever the
// clouds' sizes are.
struct Forest {
  CloudTree* trees;
  float* coordinates;  // of boxes and leaves
  int32_t* numbers;    // the order of the queries, then the leaves' starts and points
  size_t queries;
  size_t leaf_points;

  void grow(const Task& t) const {
    CloudTree next{0, 0, static_cast<int>(queries), 0, 0, 0};
    for (size_t cloud = 0; cloud < t.clouds; ++cloud) {
      size_t points = t.offsets[cloud + 1] - t.offsets[cloud];
      size_t leaves = Tree::most_leaves(points, 1, leaf_points);
      next.leaves = next.boxes + 4 * leaves * t.dims;
      next.order = next.starts + static_cast<int>(leaves) + 1;
      trees[cloud] = next;
      next.boxes = next.leaves + Tree::most_places(points, 1, leaf_points) * t.dims;
      next.starts = next.order + static_cast<int>(points);
    }
    mx::cpu::parallel_for(t.clouds, 1, [&](size_t first, size_t last) {
      for (size_t cloud = first; cloud < last; ++cloud) {
        plant(t, cloud);
      }
    });
  }

 private:
  // Builds a cloud's tree and puts it into its place, and the cloud's queries in order.
  void plant(const Task& t, size_t cloud) const {
    int32_t first_point = t.offsets[cloud];
    int32_t first_query = t.query_offsets[cloud];
    Tree tree(t.points + first_point * t.dims, t.offsets[cloud + 1] - first_point, t.dims,
              leaf_points);
    auto& place = trees[cloud];
    auto view = tree.view();
    place.inner = static_cast<int>(view.inner);
    place.stride = static_cast<int>(view.stride);
    std::copy_n(view.boxes, view.node_count() * 2 * t.dims, coordinates + place.boxes);
    std::copy_n(view.leaves, view.leaf_count() * view.stride * t.dims, coordinates + place.leaves);
    std::copy_n(view.starts, view.leaf_count() + 1, numbers + place.starts);
    auto shifted = [](int32_t by) { return [by](int32_t i) { return i + by; }; };
    std::transform(view.order, view.order + view.points(), numbers + place.order,
                   shifted(first_point));
    auto order = by_leaf(tree, t.queries + first_query * t.dims,
                         t.query_offsets[cloud + 1] - first_query, t.dims);
    std::transform(order.begin(), order.end(), numbers + first_query, shifted(first_query));
  }
};

}  // namespace

void Neighbors::eval_cpu(const Arrays& inputs, Arrays& outputs) {
  auto task = task_of(inputs, outputs, k_, radius_);
  mx::cpu::get_command_encoder(stream()).dispatch([task] {
    mx::cpu::parallel_for(task.clouds, 1, [&](size_t first, size_t last) {
      for (size_t cloud = first; cloud < last; ++cloud) {
        search_cloud(task, cloud);
      }
    });
  });
}

void Neighbors::eval_gpu(const Arrays& inputs, Arrays& outputs) {
  auto task = task_of(inputs, outputs, k_, radius_);
  int points = inputs[0].shape(0);
  int queries = inputs[1].shape(0);
  if (queries == 0) {
    return;
  }
  size_t leaf_points = std::max<size_t>(points_of_leaf(task.dims), NEIGHBOR_LANES);
  int leaves = static_cast<int>(Tree::most_leaves(points, task.clouds, leaf_points));
  int places = static_cast<int>(Tree::most_places(points, task.clouds, leaf_points));
  int clouds = static_cast<int>(task.clouds);
  // Lanes without a point read what comes behind.
  auto coordinates = temporary({4 * leaves + places + NEIGHBOR_LANES, inputs[0].shape(1) + 1},
                               mx::float32, stream());
  auto numbers = temporary({queries + points + leaves + clouds}, mx::int32, stream());
  auto trees = temporary({clouds, int(sizeof(CloudTree))}, mx::uint8, stream());
  Forest forest{trees.data<CloudTree>(), coordinates.data<float>(), numbers.data<int32_t>(),
                size_t(queries), leaf_points};

  auto& encoder = mx::metal::get_command_encoder(stream());
  encoder.add_host_task([forest, task] { forest.grow(task); });
  NeighborSizes sizes{
      queries, clouds, static_cast<int>(task.dims), k_, radius_ * radius_, slack_of(task.dims)};
  const bool in_registers = task.k <= NEIGHBOR_LANES;
  const bool counts_all = !std::isinf(task.radius);
  const int few_dims = task.dims <= NEIGHBOR_FEW_DIMS ? static_cast<int>(task.dims) : 0;
  encoder.set_compute_pipeline_state(
      find_kernel("find_neighbors", stream(), {in_registers, counts_all, few_dims}));
  encoder.set_bytes(sizes, 0);
  encoder.set_input_array(trees, 1);
  encoder.set_input_array(coordinates, 2);
  encoder.set_input_array(numbers, 3);
  encoder.set_input_array(inputs[3], 4);
  encoder.set_input_array(inputs[1], 5);
  encoder.set_output_array(outputs[0], 6);
  encoder.set_output_array(outputs[1], 7);
  encoder.set_output_array(outputs[2], 8);
  encoder.dispatch_threadgroups(MTL::Size(mx::ceildiv(queries, NEIGHBOR_SIMDGROUPS), 1, 1),
                                MTL::Size(NEIGHBOR_LANES * NEIGHBOR_SIMDGROUPS, 1, 1));
}

}  // namespace mlx_sample
