// Evaluation of neighbour searches: a tree for each cloud, and queries in the order of its leaves.
// The host builds the trees, and a kernel searches them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "counting_sort.h"
#include "evaluation.h"
#include "mlx/backend/cpu/parallel.h"
#include "mlx/backend/metal/device.h"
#include "mlx/backend/metal/utils.h"
#include "mlx/utils.h"
#include "neighbors/primitives.h"
#include "neighbors/sizes.h"
#include "neighbors/tree.h"

namespace mlx_sample {

namespace {

// The arguments, as the host reads them.
struct Clouds {
  const float* points;
  const float* queries;
  const int32_t* offsets;
  const int32_t* query_offsets;
  size_t count;
  size_t dims;
};

// In few dimensions small leaves save distances. In many nothing does, and long loops are fastest.
size_t points_of_leaf(size_t dims) { return dims <= 8 ? NEIGHBOR_LANES : 4 * NEIGHBOR_LANES; }

// The order of a cloud's queries, in which neighbouring queries are near each other.
std::vector<int32_t> by_leaf(const Tree& tree, const float* queries, size_t count, size_t dims) {
  std::vector<int32_t> leaf(count);
  mx::cpu::parallel_for(count, 1024, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      leaf[i] = static_cast<int32_t>(tree.home(queries + i * dims));
    }
  });
  std::vector<int32_t> starts(tree.leaf_count() + 1);
  std::vector<int32_t> order(count);
  auto key = [&](int32_t i) { return leaf[i]; };
  auto put = [&](int32_t i, int32_t place) { order[place] = i; };
  if (!counting_sort(static_cast<int32_t>(count), tree.leaf_count(), key, starts.data(), put)) {
    std::iota(order.begin(), order.end(), 0);
  }
  return order;
}

// The trees of all clouds, each in its part of arrays that are large enough for any sizes of the
// clouds.
struct Forest {
  CloudTree* trees;
  float* coordinates;  // of boxes and leaves
  int32_t* numbers;    // the order of the queries, then the leaves' starts and points
  size_t queries;
  size_t leaf_points;

  void grow(const Clouds& t) const {
    CloudTree next{0, 0, static_cast<int>(queries), 0, 0, 0};
    for (size_t cloud = 0; cloud < t.count; ++cloud) {
      size_t points = t.offsets[cloud + 1] - t.offsets[cloud];
      size_t leaves = Tree::most_leaves(points, 1, leaf_points);
      next.leaves = next.boxes + 4 * leaves * t.dims;
      next.order = next.starts + static_cast<int>(leaves) + 1;
      trees[cloud] = next;
      next.boxes = next.leaves + Tree::most_places(points, 1, leaf_points) * t.dims;
      next.starts = next.order + static_cast<int>(points);
    }
    mx::cpu::parallel_for(t.count, 1, [&](size_t first, size_t last) {
      for (size_t cloud = first; cloud < last; ++cloud) {
        plant(t, cloud);
      }
    });
  }

 private:
  // Builds a cloud's tree in its part of the arrays, and the order of the cloud's queries.
  void plant(const Clouds& t, size_t cloud) const {
    int32_t first_point = t.offsets[cloud];
    int32_t first_query = t.query_offsets[cloud];
    Tree tree(t.points + first_point * t.dims, t.offsets[cloud + 1] - first_point, t.dims,
              leaf_points);
    auto& place = trees[cloud];
    place.inner = static_cast<int>(tree.leaf_count()) - 1;
    place.stride = static_cast<int>(tree.stride());
    std::ranges::copy(tree.boxes(), coordinates + place.boxes);
    std::ranges::copy(tree.leaves(), coordinates + place.leaves);
    std::ranges::copy(tree.starts(), numbers + place.starts);
    auto shifted = [](int32_t by) { return [by](int32_t i) { return i + by; }; };
    std::ranges::transform(tree.order(), numbers + place.order, shifted(first_point));
    auto order = by_leaf(tree, t.queries + first_query * t.dims,
                         t.query_offsets[cloud + 1] - first_query, t.dims);
    std::ranges::transform(order, numbers + first_query, shifted(first_query));
  }
};

}  // namespace

// One kernel serves both devices.
void Neighbors::eval_cpu(const Arrays& inputs, Arrays& outputs) { eval_gpu(inputs, outputs); }

void Neighbors::eval_gpu(const Arrays& inputs, Arrays& outputs) {
  allocate(outputs);
  int points = inputs[0].shape(0);
  int queries = inputs[1].shape(0);
  if (queries == 0) {
    return;
  }
  Clouds clouds{inputs[0].data<float>(),      inputs[1].data<float>(),
                inputs[2].data<int32_t>(),    inputs[3].data<int32_t>(),
                size_t(inputs[2].size()) - 1, size_t(inputs[0].shape(1))};
  int count = static_cast<int>(clouds.count);
  int dims = static_cast<int>(clouds.dims);
  size_t leaf_points = points_of_leaf(clouds.dims);
  int leaves = static_cast<int>(Tree::most_leaves(points, clouds.count, leaf_points));
  int places = static_cast<int>(Tree::most_places(points, clouds.count, leaf_points));
  // Lanes without a point read elements behind the last one.
  auto coordinates =
      temporary({4 * leaves + places + NEIGHBOR_LANES, dims + 1}, mx::float32, stream());
  auto numbers = temporary({queries + points + leaves + count}, mx::int32, stream());
  auto trees = temporary({count, int(sizeof(CloudTree))}, mx::uint8, stream());
  Forest forest{trees.data<CloudTree>(), coordinates.data<float>(), numbers.data<int32_t>(),
                size_t(queries), leaf_points};

  auto& encoder = mx::metal::get_command_encoder(stream());
  encoder.add_host_task([forest, clouds] { forest.grow(clouds); });
  NeighborSizes sizes{queries, count, dims, k_, radius_ * radius_, slack_of(clouds.dims)};
  const bool in_registers = k_ <= NEIGHBOR_LANES;
  const bool counts_all = !std::isinf(radius_);
  const int few_dims = dims <= NEIGHBOR_FEW_DIMS ? dims : 0;
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
