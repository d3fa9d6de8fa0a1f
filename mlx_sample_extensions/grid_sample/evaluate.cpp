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

// Enough channels to share them out among threads, for samples and for gradients.
constexpr int kManyToSample = 16;
constexpr int kManyToSpread = 8;
constexpr int kLanes = 32;  // of a SIMD-group
constexpr int kRow = 16;    // a point's threads, or a pixel's, are a multiple of so many

// The pixels around each point with their weights, and these weights' derivatives.
struct Taps {
  mx::array pixels;
  mx::array weights;
  mx::array by_column;
  mx::array by_row;
};

// For each pixel of a picture, what falls on it.
struct Lists {
  const uint32_t* pixels;  // of all taps
  const float* weights;
  int32_t* starts;
  GridShare* shares;
  int32_t keys;   // pixels of a picture
  int32_t count;  // taps of a picture
  int taps;       // of a point

  void fill(size_t picture) const {
    const uint32_t* pixel = pixels + picture * count;
    const float* weight = weights + picture * count;
    GridShare* to = shares + picture * count;
    auto first = static_cast<uint32_t>(picture * keys);
    auto key = [=, n = static_cast<uint32_t>(keys)](int32_t t) {
      return std::min(pixel[t] - first, n);
    };
    auto put = [=, n = taps](int32_t t, int32_t place) { to[place] = {t / n, weight[t]}; };
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

// Runs the kernels for some pictures, which need not have elements yet, and a grid.
class Sampler {
 public:
  // `many`: with fewer channels a thread does all those of a point.
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

  // Derivatives only if they are wanted.
  Taps find_taps(bool slopes) const {
    mx::Shape shape{pictures_, points_, taps_};
    auto weights = temporary(shape, mx::float32, stream_);
    Taps taps{temporary(shape, mx::uint32, stream_), weights,
              slopes ? temporary(shape, mx::float32, stream_) : weights,
              slopes ? temporary(shape, mx::float32, stream_) : weights};
    call("grid_taps_", how_, slopes)
        .in(grid_)
        .out(taps.pixels)
        .out(taps.weights)
        .out(taps.by_column)
        .out(taps.by_row)
        .run(points_, pictures_);
    return taps;
  }

  void sample(const mx::array& x, mx::array& out) const {
    allocate(out);
    if (few_) {
      auto kernel = call("grid_sample_", how_);
      return kernel.in(x).in(grid_).in(grid_).in(grid_).out(out).run(points_, pictures_);
    }
    auto taps = find_taps(false);
    auto kernel = call("grid_sample_", plain());
    kernel.in(x).in(grid_).in(taps.pixels).in(taps.weights).out(out).run(threads(), pictures_);
  }

  // Adds values at points up in `out`.
  void spread(const mx::array& values, const Taps& taps, mx::array& out) const {
    if (gathers()) {
      return gather(values, taps, out);
    }
    mx::fill_gpu(mx::array(0.0f), out, stream_);
    auto kernel = call("grid_spread_", plain());
    kernel.in(values).in(taps.pixels).in(taps.weights).out(out).run(threads(), pictures_);
  }

  void grid_gradient(const mx::array& x, const mx::array& cotangent, const Taps& taps,
                     mx::array& out) const {
    allocate(out);
    auto parts = temporary({pictures_, points_, blocks(), 2}, mx::float32, stream_);
    call("grid_gradient_", plain())
        .in(x)
        .in(cotangent)
        .in(taps.pixels)
        .in(taps.by_column)
        .in(taps.by_row)
        .out(parts)
        .run(size_t(points_) * blocks() * (few_ ? 1 : kLanes), pictures_);
    call("grid_join_", plain()).in(parts).out(out).run(points_, pictures_);
  }

 private:
  KernelCall call(const std::string& name, const Sampling& how, bool slopes = false) const {
    bool partial = !few_ && channels_ % (kLanes * per_lane()) != 0;
    KernelCall result(
        find_kernel(name + mx::type_to_name(grid_), stream_,
                    {how.mode, how.padding, how.align_corners, how.column_order, how.row_order,
                     few_, slopes, per_lane(), partial, !few_ && row() > channels_}),
        stream_);
    result.bytes(sizes_);
    return result;
  }
  // For kernels that find weights in memory, however they were computed.
  Sampling plain() const { return {.mode = how_.mode}; }

  int per_lane() const { return channels_ < 2 * kLanes ? 1 : 2; }
  int blocks() const {
    return few_ ? 1 : static_cast<int>(mx::ceildiv(channels_, kLanes * per_lane()));
  }
  int row() const { return static_cast<int>(mx::ceildiv(channels_, kRow)) * kRow; }
  size_t threads() const { return few_ ? points_ : size_t(points_) * row(); }

  // Whether a pixel's sum is best made from a list of what falls on it. To make the lists, all taps
  // are sorted, and all pixels looked at.
  bool gathers() const {
    int64_t taps = int64_t(points_) * taps_;
    return !few_ && 16 * taps >= pixels_ && taps <= std::numeric_limits<int32_t>::max() &&
           int64_t(pixels_) * row() <= std::numeric_limits<uint32_t>::max();
  }

  void gather(const mx::array& values, const Taps& taps, mx::array& out) const {
    allocate(out);
    // A list more for what falls on no pixel.
    auto starts = temporary({pictures_, pixels_ + 2}, mx::int32, stream_);
    auto shares = temporary({pictures_, points_ * taps_, 2}, mx::int32, stream_);
    Lists lists{taps.pixels.data<uint32_t>(),
                taps.weights.data<float>(),
                starts.data<int32_t>(),
                reinterpret_cast<GridShare*>(shares.data<int32_t>()),
                pixels_,
                points_ * taps_,
                taps_};
    mx::metal::get_command_encoder(stream_).add_host_task([lists, pictures = pictures_] {
      mx::cpu::parallel_for(pictures, 1, [&](size_t first, size_t last) {
        for (size_t i = first; i < last; ++i) {
          lists.fill(i);
        }
      });
    });
    call("grid_gather_", plain())
        .in(values)
        .in(starts)
        .in(shares)
        .out(out)
        .run(size_t(pixels_) * row(), pictures_);
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
  sampler.spread(inputs[0], sampler.find_taps(false), outputs[0]);
}

void GridSampleGradient::eval_gpu(const std::vector<mx::array>& inputs,
                                  std::vector<mx::array>& outputs) {
  Sampler sampler(inputs[0], inputs[1], how_, kManyToSpread, stream());
  auto taps = sampler.find_taps(true);
  sampler.spread(inputs[2], taps, outputs[0]);
  sampler.grid_gradient(inputs[0], inputs[2], taps, outputs[1]);
}

}  // namespace mlx_sample
