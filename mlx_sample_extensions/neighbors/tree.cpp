// Building and searching k-d trees.
#include "neighbors/tree.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "mlx/backend/cpu/parallel.h"
#include "native_loops.h"

namespace mlx_sample {

namespace {

typedef float v8 __attribute__((vector_size(32), aligned(4), may_alias));

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr size_t kMostDepth = 40;

Nearest::Key key_of(float square, int32_t index) {
  return Nearest::Key(std::bit_cast<uint32_t>(square)) << 32 | static_cast<uint32_t>(index);
}

bool is_finite(const float* point, size_t dims) {
  return std::all_of(point, point + dims, [](float x) { return std::isfinite(x); });
}

// The squared distance of a query to a box.
MLX_SAMPLE_INLINE float to_box(const float* box, const float* query, size_t dims) {
  float sum = 0;
  for (size_t k = 0; k < dims; ++k) {
    float below = box[k] - query[k];
    float above = query[k] - box[dims + k];
    float gap = std::max(std::max(below, above), 0.0f);
    sum += gap * gap;
  }
  return sum;
}

// Squared distances of a query to a leaf's points, of which there are a multiple of 8.
MLX_SAMPLE_INLINE void to_points(const float* leaf, const float* query, size_t dims, size_t stride,
                                 float* squares) {
  for (size_t i = 0; i < stride; i += 8) {
    v8 sum = {};
    for (size_t k = 0; k < dims; ++k) {
      v8 difference = *reinterpret_cast<const v8*>(leaf + k * stride + i) - query[k];
      sum += difference * difference;
    }
    *reinterpret_cast<v8*>(squares + i) = sum;
  }
}

MLX_SAMPLE_NATIVE size_t find_in(const TreeView& tree, const float* query, const Search& search,
                                 Nearest& nearest, float* squares) {
  struct Waiting {
    size_t node;
    float square;
  };
  Waiting stack[kMostDepth];
  size_t waiting = 0;
  size_t count = 0;
  const float slack = slack_of(tree.dims);
  auto bound = [&] { return search.all ? search.limit : nearest.bound(search.limit); };
  stack[waiting++] = {0, to_box(tree.boxes, query, tree.dims)};
  while (waiting > 0) {
    auto [node, square] = stack[--waiting];
    if (!(square * slack <= bound())) {
      continue;
    }
    while (node < tree.inner) {
      const float* boxes = tree.boxes + (2 * node + 1) * 2 * tree.dims;
      float left = to_box(boxes, query, tree.dims);
      float right = to_box(boxes + 2 * tree.dims, query, tree.dims);
      bool swapped = right < left;
      Waiting far = {2 * node + (swapped ? 1 : 2), swapped ? left : right};
      if (far.square * slack <= bound()) {
        stack[waiting++] = far;
      }
      node = 2 * node + (swapped ? 2 : 1);
    }
    size_t leaf = node - tree.inner;
    to_points(tree.leaves + leaf * tree.dims * tree.stride, query, tree.dims, tree.stride, squares);
    size_t first = tree.starts[leaf];
    size_t points = tree.starts[leaf + 1] - first;
    float most = nearest.bound(search.limit);
    for (size_t i = 0; i < points; ++i) {
      count += squares[i] <= search.limit;
      if (squares[i] <= most) {
        nearest.add(squares[i], tree.order[first + i]);
        most = nearest.bound(search.limit);
      }
    }
  }
  return count;
}

}  // namespace

// ---- Nearest ----

void Nearest::add(float square, int32_t index) {
  Key key = key_of(square, index);
  if (capacity_ > kSorted) {
    keys_.push_back(key);
    std::push_heap(keys_.begin(), keys_.end());
    if (keys_.size() > capacity_) {
      std::pop_heap(keys_.begin(), keys_.end());
      keys_.pop_back();
    }
    return;
  }
  size_t place = keys_.size();
  if (place < capacity_) {
    keys_.push_back(key);
  } else if (key > keys_[--place]) {
    return;
  }
  for (; place > 0 && keys_[place - 1] > key; --place) {
    keys_[place] = keys_[place - 1];
  }
  keys_[place] = key;
}

void Nearest::sort() {
  if (capacity_ > kSorted) {
    std::sort(keys_.begin(), keys_.end());
  }
}

// ---- Tree ----

// In few dimensions small leaves spare distances; in many nothing does, and long loops are best.
size_t points_of_leaf(size_t dims) { return dims <= 4 ? 16 : dims <= 8 ? 32 : 128; }

Tree::Tree(const float* points, size_t count, size_t dims, size_t leaf_points) : dims_(dims) {
  order_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    if (is_finite(points + i * dims, dims)) {
      order_.push_back(static_cast<int32_t>(i));
    }
  }
  while ((order_.size() + leaves() - 1) / leaves() > leaf_points) {
    ++depth_;
  }
  starts_ = {0, static_cast<int32_t>(order_.size())};
  for (int level = 0; level < depth_; ++level) {
    split_level(level, points);
  }
  fill_leaves(points);
  fill_boxes();
}

// Splits every node of a level in the middle of its widest coordinate.
void Tree::split_level(int level, const float* points) {
  size_t nodes = size_t(1) << level;
  std::vector<int32_t> starts(2 * nodes + 1, starts_.back());
  mlx::core::cpu::parallel_for(nodes, 1, [&](size_t first_node, size_t last_node) {
    std::vector<float> low(dims_);
    std::vector<float> high(dims_);
    for (size_t node = first_node; node < last_node; ++node) {
      auto first = order_.begin() + starts_[node];
      auto last = order_.begin() + starts_[node + 1];
      std::fill(low.begin(), low.end(), kInfinity);
      std::fill(high.begin(), high.end(), -kInfinity);
      for (auto it = first; it != last; ++it) {
        for (size_t k = 0; k < dims_; ++k) {
          low[k] = std::min(low[k], points[*it * dims_ + k]);
          high[k] = std::max(high[k], points[*it * dims_ + k]);
        }
      }
      size_t axis = 0;
      for (size_t k = 1; k < dims_; ++k) {
        axis = high[k] - low[k] > high[axis] - low[axis] ? k : axis;
      }
      auto middle = first + (last - first) / 2;
      if (dims_ > 0) {
        std::nth_element(first, middle, last, [&](int32_t a, int32_t b) {
          return points[a * dims_ + axis] < points[b * dims_ + axis];
        });
      }
      starts[2 * node] = starts_[node];
      starts[2 * node + 1] = static_cast<int32_t>(middle - order_.begin());
    }
  });
  starts_ = std::move(starts);
}

void Tree::fill_leaves(const float* points) {
  size_t most = 1;
  for (size_t leaf = 0; leaf < leaves(); ++leaf) {
    most = std::max<size_t>(most, starts_[leaf + 1] - starts_[leaf]);
  }
  stride_ = (most + kRounding - 1) / kRounding * kRounding;
  leaves_.assign(leaves() * dims_ * stride_, kInfinity);
  mlx::core::cpu::parallel_for(leaves(), 256, [&](size_t first, size_t last) {
    for (size_t leaf = first; leaf < last; ++leaf) {
      for (int32_t i = starts_[leaf]; i < starts_[leaf + 1]; ++i) {
        for (size_t k = 0; k < dims_; ++k) {
          leaves_[(leaf * dims_ + k) * stride_ + i - starts_[leaf]] = points[order_[i] * dims_ + k];
        }
      }
    }
  });
}

void Tree::fill_boxes() {
  size_t inner = leaves() - 1;
  boxes_.assign((inner + leaves()) * 2 * dims_, kInfinity);
  for (size_t leaf = 0; leaf < leaves(); ++leaf) {
    for (size_t k = 0; k < dims_; ++k) {
      const float* values = leaves_.data() + (leaf * dims_ + k) * stride_;
      float* low = box(inner + leaf) + k;
      float* high = low + dims_;
      *high = -kInfinity;
      for (int32_t i = 0; i < starts_[leaf + 1] - starts_[leaf]; ++i) {
        *low = std::min(*low, values[i]);
        *high = std::max(*high, values[i]);
      }
    }
  }
  for (size_t node = inner; node-- > 0;) {
    for (size_t k = 0; k < dims_; ++k) {
      box(node)[k] = std::min(box(2 * node + 1)[k], box(2 * node + 2)[k]);
      box(node)[dims_ + k] = std::max(box(2 * node + 1)[dims_ + k], box(2 * node + 2)[dims_ + k]);
    }
  }
}

TreeView Tree::view() const {
  return {boxes_.data(), leaves_.data(), starts_.data(), order_.data(),
          dims_,         stride_,        leaves() - 1};
}

size_t Tree::home(const float* query) const {
  size_t inner = leaves() - 1;
  size_t node = 0;
  while (node < inner) {
    const float* boxes = boxes_.data() + (2 * node + 1) * 2 * dims_;
    float left = to_box(boxes, query, dims_);
    node = 2 * node + (to_box(boxes + 2 * dims_, query, dims_) < left ? 2 : 1);
  }
  return node - inner;
}

size_t Tree::find(const float* query, const Search& search, Nearest& nearest) const {
  if (order_.empty() || !is_finite(query, dims_)) {
    return 0;
  }
  thread_local std::vector<float> squares;
  squares.resize(stride_);
  return find_in(view(), query, search, nearest, squares.data());
}

}  // namespace mlx_sample
