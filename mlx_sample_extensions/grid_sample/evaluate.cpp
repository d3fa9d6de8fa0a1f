// grid_sample: evaluation of its primitives by kernels.
#include <algorithm>
#include <limits>

#include "counting_sort.h"
#include "evaluation.h"
#include "grid_sample/grid_sample.h"
#include "grid_sample/sizes.h"
#include "mlx/backend/cpu/parallel.h"
#include "mlx/backend/gpu/copy.h"
#include "mlx/backend/metal/utils.h"

namespace mlx_sample {

namespace {

// With so many channels, threads share them: for samples and for gradients.
constexpr int kManyToSample = 16;
constexpr int kManyToSpread = 8;
constexpr int kLanes = 32;  // of a SIMD-group
constexpr int kRow = 16;    // the threads of a point or a pixel are a multiple of so many

// The pixels around each point with their weights.
struct Taps {
  mx::array pixels;
  mx::array weights;
};

// The same, sorted by pixel: the start of each pixel's contributions, and all contributions.
struct SortedTaps {
  mx::array starts;
  mx::array shares;
};

// Sorts the taps of a picture by pixel.
struct Lists {
  const uint32_t* pixels;  // of all taps
  const float* weights;
  int32_t* starts;
  GridShare* shares;
  int32_t keys;   // pixels of a picture
  int32_t count;  // taps of a picture

  void fill(size_t picture) const {
    const uint32_t* pixel = pixels + picture * count;
    const float* weight = weights + picture * count;
    GridShare* to = shares + picture * count;
    auto first = static_cast<uint32_t>(picture * keys);
    auto key = [=, n = static_cast<uint32_t>(keys)](int32_t t) {
      return std::min(pixel[t] - first, n);
    };
    auto put = [=](int32_t t, int32_t place) { to[place] = {t, weight[t]}; };
    if (!counting_sort(count, keys + 1, key, starts + picture * (keys + 2), put)) {
      for (int32_t t = 0; t < count; ++t) {
        put(t, t);
      }
    }
  }
};

int taps_of(const Sampling& how) {
  if (how.mode == Sampling::Nearest) return 1;
  return how.mode == Sampling::Bilinear ? 4 : 16;
}

// Runs the kernels for some pictures, which may be uninitialised, and a grid.
class Sampler {
 public:
  // With fewer than `many` channels, one thread computes all channels of a point.
  Sampler(const mx::array& pictures, const mx::array& grid, const Sampling& how, int many,
          mx::Stream s)
      : grid_(grid),
        how_(how),
        stream_(s),
        pictures_(pictures.shape(0)),
        pixels_(pictures.shape(1) * pictures.shape(2)),
        channels_(pictures.shape(3)),
        points_(grid.shape(1) * grid.shape(2)),
        taps_(taps_of(how)),
        few_(channels_ < many),
        sizes_{pictures.shape(1),
               pictures.shape(2),
               channels_,
               points_,
               static_cast<unsigned>(pictures_) * pixels_,
               taps_,
               row(),
               blocks()} {}

  Taps find_taps() const {
    mx::Shape shape{pictures_, points_, taps_};
    Taps taps{temporary(shape, mx::uint32, stream_), temporary(shape, mx::float32, stream_)};
    auto kernel = call("grid_taps_", how_);
    kernel.in(grid_).out(taps.pixels).out(taps.weights).run(points_, pictures_);
    return taps;
  }

  void sample(const mx::array& x, mx::array& out) const {
    allocate(out);
    if (few_) {
      auto kernel = call("grid_sample_", how_);
      return kernel.in(x).in(grid_).in(grid_).in(grid_).out(out).run(points_, pictures_);
    }
    auto taps = find_taps();
    auto kernel = call("grid_sample_", plain());
    kernel.in(x).in(grid_).in(taps.pixels).in(taps.weights).out(out).run(threads(), pictures_);
  }

  // Adds values at points into `out`.
  void spread(const mx::array& values, const Taps& taps, mx::array& out) const {
    if (gathers()) {
      allocate(out);
      auto lists = sort(taps);
      auto kernel = call("grid_gather_", plain());
      kernel.in(values).in(lists.starts).in(lists.shares).out(out);
      return kernel.run(size_t(pixels_) * row(), pictures_);
    }
    mx::fill_gpu(mx::array(0.0f), out, stream_);
    auto kernel = call("grid_spread_", plain());
    kernel.in(values).in(taps.pixels).in(taps.weights).out(out).run(threads(), pictures_);
  }

  // The same, and the points' gradients.
  void gradients(const mx::array& x, const mx::array& cotangent, mx::array& x_gradient,
                 mx::array& grid_gradient) const {
    auto taps = find_taps();
    auto products = temporary({pictures_, points_, taps_, blocks()}, mx::float32, stream_);
    if (gathers() && fills_groups()) {
      allocate(x_gradient);
      auto lists = sort(taps);
      auto kernel = call("grid_gather_products_", plain());
      kernel.in(cotangent).in(lists.starts).in(lists.shares).out(x_gradient).in(x).out(products);
      kernel.run(size_t(pixels_) * blocks() * kLanes, pictures_);
    } else if (!few_ && !gathers()) {
      mx::fill_gpu(mx::array(0.0f), x_gradient, stream_);
      auto kernel = call("grid_spread_products_", plain());
      kernel.in(cotangent).in(taps.pixels).in(taps.weights).out(x_gradient).in(x).out(products);
      kernel.run(size_t(points_) * blocks() * kLanes, pictures_);
    } else {
      spread(cotangent, taps, x_gradient);
      auto kernel = call("grid_products_", plain());
      kernel.in(x).in(cotangent).in(taps.pixels).out(products);
      kernel.run(size_t(points_) * blocks() * (few_ ? 1 : kLanes), pictures_);
    }
    allocate(grid_gradient);
    auto kernel = call("grid_gradient_", how_);
    kernel.in(grid_).in(products).out(grid_gradient).run(points_, pictures_);
  }

 private:
  KernelCall call(const std::string& name, const Sampling& how) const {
    bool partial = !few_ && channels_ % (kLanes * per_lane()) != 0;
    KernelCall result(
        find_kernel(name + mx::type_to_name(grid_), stream_,
                    {how.mode, how.padding, how.align_corners, how.column_order, how.row_order,
                     few_, per_lane(), partial, !few_ && row() > channels_}),
        stream_);
    result.bytes(sizes_);
    return result;
  }
  // For kernels that read precomputed weights.
  Sampling plain() const { return {.mode = how_.mode}; }

  int per_lane() const { return channels_ < 2 * kLanes || channels_ == 3 * kLanes ? 1 : 2; }
  int blocks() const {
    return few_ ? 1 : static_cast<int>(mx::ceildiv(channels_, size_t{kLanes} * per_lane()));
  }
  int row() const { return static_cast<int>(mx::ceildiv(channels_, kRow)) * kRow; }
  size_t threads() const { return few_ ? points_ : size_t(points_) * row(); }

  // Whether few lanes are idle if a SIMD-group processes a block of channels.
  bool fills_groups() const { return channels_ >= 2 * kLanes || channels_ % kLanes == 0; }

  // Whether a list of each pixel's contributions is the fastest way to sum them. To make the lists,
  // the host sorts all taps, and all pixels are visited.
  bool gathers() const {
    int64_t taps = int64_t(points_) * taps_;
    return !few_ && !has_own_memory(stream_.device) && 16 * taps >= pixels_ &&
           taps <= std::numeric_limits<int32_t>::max() &&
           int64_t(pixels_) * std::max(row(), blocks() * kLanes) <=
               std::numeric_limits<uint32_t>::max();
  }

  SortedTaps sort(const Taps& taps) const {
    // One more list, for taps outside of the picture.
    SortedTaps sorted{temporary({pictures_, pixels_ + 2}, mx::int32, stream_),
                      temporary({pictures_, points_ * taps_, 2}, mx::int32, stream_)};
    Lists lists{taps.pixels.data<uint32_t>(),
                taps.weights.data<float>(),
                sorted.starts.data<int32_t>(),
                reinterpret_cast<GridShare*>(sorted.shares.data<int32_t>()),
                pixels_,
                points_ * taps_};
    mx::metal::get_command_encoder(stream_).add_host_task([lists, pictures = pictures_] {
      mx::cpu::parallel_for(pictures, 1, [&](size_t first, size_t last) {
        for (size_t i = first; i < last; ++i) {
          lists.fill(i);
        }
      });
    });
    return sorted;
  }

  const mx::array& grid_;
  const Sampling& how_;
  mx::Stream stream_;
  int pictures_;
  int pixels_;  // of a picture
  int channels_;
  int points_;  // of the grid, for each picture
  int taps_;    // of a point
  bool few_;
  GridSizes sizes_;
};

}  // namespace

void GridSample::eval_gpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) {
  Sampler(inputs[0], inputs[1], how_, kManyToSample, stream()).sample(inputs[0], outputs[0]);
}

void GridSpread::eval_gpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) {
  Sampler sampler(outputs[0], inputs[1], how_, kManyToSpread, stream());
  sampler.spread(inputs[0], sampler.find_taps(), outputs[0]);
}

void GridSampleGradient::eval_gpu(const std::vector<mx::array>& inputs,
                                  std::vector<mx::array>& outputs) {
  Sampler sampler(inputs[0], inputs[1], how_, kManyToSpread, stream());
  sampler.gradients(inputs[0], inputs[2], outputs[0], outputs[1]);
}

}  // namespace mlx_sample
