// Builds k-d trees.
#include "neighbors/tree.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mlx/backend/cpu/parallel.h"

namespace mlx_sample {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool is_finite(const float* point, size_t dims) {
  return std::all_of(point, point + dims, [](float x) { return std::isfinite(x); });
}

// The squared distance of a query to a box.
float to_box(const float* box, const float* query, size_t dims) {
  float sum = 0;
  for (size_t k = 0; k < dims; ++k) {
    float below = box[k] - query[k];
    float above = query[k] - box[dims + k];
    float gap = std::max(std::max(below, above), 0.0f);
    sum += gap * gap;
  }
  return sum;
}

}  // namespace

Tree::Tree(const float* points, size_t count, size_t dims, size_t leaf_points) : dims_(dims) {
  order_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    if (is_finite(points + i * dims, dims)) {
      order_.push_back(static_cast<int32_t>(i));
    }
  }
  while ((order_.size() + leaf_count() - 1) / leaf_count() > leaf_points) {
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
  for (size_t leaf = 0; leaf < leaf_count(); ++leaf) {
    most = std::max<size_t>(most, starts_[leaf + 1] - starts_[leaf]);
  }
  stride_ = (most + kRounding - 1) / kRounding * kRounding;
  leaves_.assign(leaf_count() * dims_ * stride_, kInfinity);
  mlx::core::cpu::parallel_for(leaf_count(), 256, [&](size_t first, size_t last) {
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
  size_t inner = leaf_count() - 1;
  boxes_.assign((inner + leaf_count()) * 2 * dims_, kInfinity);
  for (size_t leaf = 0; leaf < leaf_count(); ++leaf) {
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

size_t Tree::home(const float* query) const {
  size_t inner = leaf_count() - 1;
  size_t node = 0;
  while (node < inner) {
    const float* boxes = boxes_.data() + (2 * node + 1) * 2 * dims_;
    float left = to_box(boxes, query, dims_);
    node = 2 * node + (to_box(boxes + 2 * dims_, query, dims_) < left ? 2 : 1);
  }
  return node - inner;
}

}  // namespace mlx_sample
