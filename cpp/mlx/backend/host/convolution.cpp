// Convolutions with oneDNN: pieces for each thread.
#include "mlx/backend/host/convolution.h"

#include <algorithm>
#include <cstring>

#include "metal/cpu/runtime/parallel.h"
#include "mlx/backend/common/copy.h"
#include "mlx/backend/host/convolution_pieces.h"
#include "mlx/backend/host/convolution_plan.h"
#include "mlx/backend/host/encoder.h"
#include "mlx/backend/host/parallel.h"
#include "mlx/backend/host/working_memory.h"
#include "mlx/backend/metal/ops/convolution.h"
#include "mlx/backend/metal/ops/launch.h"

namespace mlx::core {

namespace {

using Part = ConvolutionPart;
using dnnl::memory;

void reorder(const memory::desc& from, const char* data, const memory::desc& to, char* result) {
  const cpu::OnThisThread alone;
  const memory source = cpu::onednn_memory(from, data), target = cpu::onednn_memory(to, result);
  const dnnl::reorder primitive(source, target);
  cpu::execute(primitive, {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}});
}

// A piece, its plan (null if there is nothing to compute), and where its arrays start, in bytes.
struct PlannedPiece {
  std::shared_ptr<const cpu::ConvolutionPlan> plan;
  size_t input, output;
  size_t result_bytes;
};

// A convolution in pieces. All plans use the same order of weights.
struct PlannedConvolution {
  Part part;
  std::vector<PlannedPiece> pieces;
  memory::desc row_major, ordered;  // the weight's
  size_t scratch = 0;               // bytes for each thread

  PlannedConvolution(Part part, const cpu::ConvolutionGeometry& whole, Dtype dtype);
  bool reorders() const { return row_major != ordered; }
  cpu::ThreadsWithScratch threads(Stream s) const {
    return {std::min(pieces.size(), ::metal::cpu::parallel_width()), scratch, s};
  }
};

PlannedConvolution::PlannedConvolution(Part part, const cpu::ConvolutionGeometry& whole,
                                       Dtype dtype)
    : part(part), row_major(cpu::row_major_weight(whole, dtype)), ordered(row_major) {
  const size_t item = dtype.size();
  const size_t input_row = whole.input_size() / whole.axes[0].input;
  const size_t output_row = whole.output_size() / whole.axes[0].output;
  const memory::desc* order = nullptr;
  for (const auto& piece : cpu::cut(part, whole, ::metal::cpu::parallel_width())) {
    const auto& g = piece.geometry;
    const size_t result = g.images * (part == Part::Input ? g.axes[0].input * input_row
                                                          : g.axes[0].output * output_row);
    PlannedPiece planned{
        nullptr, (piece.image * whole.input_size() + piece.input_row * input_row) * item,
        (piece.image * whole.output_size() + piece.output_row * output_row) * item, result * item};
    if (!piece.is_empty()) {
      planned.plan = cpu::plan_convolution(part, g, dtype, order);
      ordered = planned.plan->weight;
      order = &ordered;
      scratch = std::max(scratch, planned.plan->scratch.get_size());
    } else if (part == Part::Weight) {
      continue;  // adds nothing to the sum
    }
    pieces.push_back(std::move(planned));
  }
}

// Computes the output, or the input's cotangent.
void compute_elements(const PlannedConvolution& convolution, char* input, const char* weight,
                      char* output, char* ordered, const cpu::ThreadsWithScratch& threads) {
  if (convolution.reorders()) {
    reorder(convolution.row_major, weight, convolution.ordered, ordered);
    weight = ordered;
  }
  threads.for_each(convolution.pieces.size(), [&](size_t i, char* own) {
    const auto& piece = convolution.pieces[i];
    char* in = input + piece.input;
    char* out = output + piece.output;
    if (piece.plan) {
      piece.plan->run(convolution.part, in, weight, out, own);
    } else {
      std::memset(convolution.part == Part::Input ? in : out, 0, piece.result_bytes);
    }
  });
}

// Computes the weight's cotangent: the sum of the pieces' results.
void compute_weight(const PlannedConvolution& convolution, const char* input, char* weight,
                    const char* output, char* sums, const cpu::ThreadsWithScratch& threads) {
  if (convolution.pieces.empty()) {
    std::memset(weight, 0, convolution.row_major.get_size());
    return;
  }
  const size_t size = convolution.ordered.get_size();
  threads.for_each(convolution.pieces.size(), [&](size_t i, char* own) {
    const auto& piece = convolution.pieces[i];
    piece.plan->run(convolution.part, input + piece.input, sums + i * cpu::whole_pages(size),
                    output + piece.output, own);
  });
  constexpr size_t kGrain = 1 << 15;
  cpu::parallel_for(size / sizeof(float), kGrain, [&](size_t first, size_t last) {
    auto* total = reinterpret_cast<float*>(sums);
    for (size_t piece = 1; piece < convolution.pieces.size(); ++piece) {
      const auto* one = reinterpret_cast<const float*>(sums + piece * cpu::whole_pages(size));
      for (size_t i = first; i < last; ++i) total[i] += one[i];
    }
  });
  reorder(convolution.ordered, sums, convolution.row_major, weight);
}

// Schedules the part. The arrays are row-contiguous, of float32 or bfloat16.
void schedule(Part part, const cpu::ConvolutionGeometry& geometry, array input, array weight,
              array output, Stream s) {
  auto convolution = std::make_shared<const PlannedConvolution>(part, geometry, input.dtype());
  const size_t size = cpu::whole_pages(convolution->ordered.get_size());
  const auto threads = convolution->threads(s);
  char *in = input.data<char>(), *kernel = weight.data<char>(), *out = output.data<char>();
  auto& encoder = cpu::get_command_encoder(s);
  if (part == Part::Weight) {
    char* sums = cpu::working_memory(size * convolution->pieces.size(), s);
    encoder.dispatch([=] { compute_weight(*convolution, in, kernel, out, sums, threads); });
  } else {
    char* ordered = convolution->reorders() ? cpu::working_memory(size, s) : nullptr;
    encoder.dispatch([=] { compute_elements(*convolution, in, kernel, out, ordered, threads); });
  }
}

}  // namespace

MLX_EVAL(Convolution) {
  allocate_output(out);
  if (out.size() == 0) return;
  const Stream s = stream();
  const Dtype dtype = out.dtype();
  if (convolves_on_device(dtype, window_.stride.size(), s)) {
    return convolve_on_device(part_, window_, row_contiguous(inputs[0], s),
                              row_contiguous(inputs[1], s), out, s);
  }
  const Dtype computed = dtype == float64 || cpu::multiplies_natively(dtype) ? dtype : float32;
  auto readable = [&](const array& a) {
    return computed == dtype ? row_contiguous(a, s) : converted(a, computed, s);
  };
  array result = out;
  if (computed != dtype) {
    result = array(out.shape(), computed, nullptr, {});
    allocate_output(result);
    metal::get_command_encoder(s).add_temporary(result);
  }
  array input = part_ == Part::Input ? result : readable(inputs[0]);
  array weight = part_ == Part::Weight  ? result
                 : part_ == Part::Input ? readable(inputs[0])
                                        : readable(inputs[1]);
  array output = part_ == Part::Output ? result : readable(inputs[1]);
  const cpu::ConvolutionGeometry geometry(input.shape(), weight.shape(), output.shape(), window_);

  if (computed == float64) {
    check_float64("conv", s);
    cpu::get_command_encoder(s).dispatch(
        [=, part = part_, in = input.data<double>(), kernel = weight.data<double>(),
         to = output.data<double>()] { cpu::convolve_float64(part, geometry, in, kernel, to); });
  } else {
    schedule(part_, geometry, input, weight, output, s);
  }
  if (computed != dtype) copy_inplace(result, out, CopyType::Vector, s);
}

}  // namespace mlx::core
