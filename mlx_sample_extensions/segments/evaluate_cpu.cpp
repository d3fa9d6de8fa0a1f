// Evaluation of the primitives of segments by loops on the host.
#include "evaluation.h"
#include "mlx/backend/cpu/encoder.h"
#include "segments/native.h"

namespace mlx_sample {

namespace {

native::Layout layout_of(const Segments& segments, size_t total, size_t columns) {
  return {segments.offsets.data<int32_t>(), static_cast<size_t>(segments.count()),
          segments.rows ? segments.rows->data<int32_t>() : nullptr, total, columns};
}

// Returns f(T()) for the types that reductions know.
template <typename F>
void with_value_type(mx::Dtype dtype, F&& f) {
  switch (dtype.val()) {
    case mx::Dtype::Val::float32:
      return f(float());
    case mx::Dtype::Val::float16:
      return f(mx::float16_t());
    case mx::Dtype::Val::bfloat16:
      return f(mx::bfloat16_t());
    case mx::Dtype::Val::int32:
      return f(int32_t());
    case mx::Dtype::Val::uint32:
      return f(uint32_t());
    case mx::Dtype::Val::int64:
      return f(int64_t());
    default:
      throw std::invalid_argument("[segment_reduce] Values of type " + mx::dtype_to_string(dtype) +
                                  " cannot be reduced.");
  }
}

size_t listed_rows(const Segments& segments, const mx::array& x) {
  return segments.rows ? segments.rows->size() : x.shape(0);
}

}  // namespace

void SegmentReduce::eval_cpu(const Arrays& inputs, Arrays& outputs) {
  auto& x = inputs[0];
  auto& out = outputs[0];
  allocate(out);
  auto segments = segments_of(inputs);
  auto layout = layout_of(segments, listed_rows(segments, x), x.shape(1));
  with_value_type(x.dtype(), [&]<typename T>(T) {
    mx::cpu::get_command_encoder(stream()).dispatch(
        [layout, r = reduction_, from = x.data<T>(), to = out.data<T>()] {
          native::reduce(from, layout, r, to);
        });
  });
}

void SegmentSpread::eval_cpu(const Arrays& inputs, Arrays& outputs) {
  auto& g = inputs[0];
  auto& out = outputs[0];
  allocate(out);
  auto layout = layout_of(segments_of(inputs), rows_, g.shape(1));
  auto& encoder = mx::cpu::get_command_encoder(stream());
  if (!mean_) {
    size_t bytes = g.shape(1) * g.itemsize();
    encoder.dispatch([layout, bytes, from = g.data<char>(), to = out.data<char>()] {
      native::spread(from, layout, bytes, to);
    });
    return;
  }
  with_value_type(g.dtype(), [&]<typename T>(T) {
    encoder.dispatch([layout, from = g.data<T>(), to = out.data<T>()] {
      native::spread_mean(from, layout, to);
    });
  });
}

void SegmentShare::eval_cpu(const Arrays& inputs, Arrays& outputs) {
  auto& x = inputs[0];
  auto& out = outputs[0];
  allocate(out);
  auto layout = layout_of(segments_of(inputs), x.shape(0), x.shape(1));
  with_value_type(x.dtype(), [&]<typename T>(T) {
    mx::cpu::get_command_encoder(stream()).dispatch(
        [layout, rows = x.data<T>(), y = inputs[1].data<T>(), g = inputs[2].data<T>(),
         to = out.data<T>()] { native::share(rows, y, g, layout, to); });
  });
}

void SegmentOthers::eval_cpu(const Arrays& inputs, Arrays& outputs) {
  auto& x = inputs[0];
  auto& out = outputs[0];
  allocate(out);
  auto layout = layout_of(segments_of(inputs), x.shape(0), x.shape(1));
  with_value_type(x.dtype(), [&]<typename T>(T) {
    mx::cpu::get_command_encoder(stream()).dispatch(
        [layout, rows = x.data<T>(), u = moved_ ? inputs[1].data<T>() : nullptr,
         to = out.data<T>()] { native::others(rows, u, layout, to); });
  });
}

}  // namespace mlx_sample
