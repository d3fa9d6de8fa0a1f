// Scans, softmax and log-sum-exp: lines of a contiguous array.
#include <algorithm>

#include "mlx/backend/common/copy.h"
#include "mlx/backend/host/float64.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/primitives/reduce.h"

namespace mlx::core {

namespace {

constexpr const char* kScanOps[] = {"ScanMax",     "ScanMin",      "ScanSum",    "ScanProd",
                                    "ScanLogSum",  "ScanRowMax",   "ScanRowMin", "ScanRowSum",
                                    "ScanRowProd", "ScanRowLogSum"};
constexpr int kScans = 5;

// Makes the input contiguous, and allocates the output: in the input's memory if that is donatable.
array prepare(const array& in, array& out, Stream s) {
  if (in.flags().row_contiguous && in.dtype() == out.dtype() && is_donatable(in, out)) {
    out.copy_shared_buffer(in);
  } else {
    allocate_output(out);
  }
  return row_contiguous(in, s);
}

constexpr size_t kKeptFloats = 8192;               // what Metal's threadgroup memory holds
constexpr size_t kSharedFloats = kKeptFloats / 4;  // for several rows: fits the L1 cache

// How many lines a threadgroup has if each thread takes one.
size_t lines_of_threadgroup(size_t length) {
  return std::clamp<size_t>(16384 / std::max<size_t>(length, 1), 1, 256);
}

// Runs a SIMD-group per row. `kept`: the floats of a row for which a SIMD-group has threadgroup
// memory.
void rows(const char* op, KernelTable& table, const array& in, array& out, Stream s,
          size_t kept = 0) {
  uint32_t length = in.shape(-1);
  auto* kernel =
      table.get(dtype_index(in.dtype()), [&] { return kernel_name(op, type_name(in.dtype())); });
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_input_array(in, 0);
  encoder.set_output_array(out, 1);
  encoder.set_bytes(length, 2);
  size_t count = rows_of_threadgroup(length);
  if (kept > 0) {
    count = std::clamp<size_t>(kSharedFloats / kept, 1, count);
    encoder.set_threadgroup_memory_length(count * kept * sizeof(float), 0);
  }
  dispatch_grid(encoder, in.size() / length * kLanes, 1, 1, count * kLanes);
}

// Runs a threadgroup per row.
void shared_rows_kernel(const char* op, const SharedRows& layout, KernelTable& table,
                        const array& in, array& out, Stream s) {
  const uint32_t length = in.shape(-1);
  auto* kernel = table.get(layout.index() * kDtypes + dtype_index(in.dtype()), [&] {
    return std::string(op) + kernel_name(layout.suffix, type_name(in.dtype()));
  });
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_input_array(in, 0);
  encoder.set_output_array(out, 1);
  encoder.set_bytes(length, 2);
  dispatch_grid(encoder, in.size() / length * layout.threads, 1, 1, layout.threads);
}

}  // namespace

MLX_EVAL(Scan) {
  Stream s = stream();
  if (inputs[0].dtype() == float64 && inputs[0].size() > 0) {
    check_float64(name(), s);
    allocate_output(out);
    return cpu::scan_float64(reduce_type_, row_contiguous(inputs[0], s), out, axis_, reverse_,
                             inclusive_, s);
  }
  bool widens = inputs[0].dtype() == bool_ && out.dtype() == int32;
  array in = inputs[0].dtype() == out.dtype() || widens
                 ? prepare(inputs[0], out, s)
                 : prepare(converted(inputs[0], out.dtype(), s), out, s);
  if (out.size() == 0) {
    return;
  }
  struct {
    uint32_t length, inner, reverse, inclusive;
  } shape{};
  shape.length = in.shape(axis_);
  shape.inner = 1;
  for (size_t d = axis_ + 1; d < in.ndim(); ++d) {
    shape.inner *= in.shape(d);
  }
  shape.reverse = reverse_;
  shape.inclusive = inclusive_;
  const bool is_row = shape.inner == 1 && shape.length >= kLanes;
  const int op = reduce_type_ + (is_row ? kScans : 0);
  static KernelTable table(2 * kScans * kDtypes * kDtypes);
  size_t index = (op * kDtypes + dtype_index(in.dtype())) * kDtypes + dtype_index(out.dtype());
  auto* kernel = table.get(index, [&] {
    return kernel_name(kScanOps[op], type_name(in.dtype()), type_name(out.dtype()));
  });
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(kernel);
  encoder.set_input_array(in, 0);
  encoder.set_output_array(out, 1);
  encoder.set_bytes(shape, 2);
  size_t outer = in.size() / (size_t(shape.length) * shape.inner);
  if (is_row) {
    return dispatch_grid(encoder, outer * kLanes, 1, 1, rows_of_threadgroup(shape.length) * kLanes);
  }
  dispatch_grid(encoder, shape.inner, outer, 1, lines_of_threadgroup(shape.length));
}

MLX_EVAL(Softmax) {
  array in = prepare(inputs[0], out, stream());
  if (out.size() == 0) {
    return;
  }
  if (in.dtype() == float64) {
    check_float64("Softmax", stream());
    return cpu::softmax_float64(in, out, stream());
  }
  static KernelTable table(kDtypes), long_table(kDtypes), shared_table(kSharedRowKinds * kDtypes);
  size_t length = in.shape(-1);
  const SharedRows layout = shared_rows(length);
  if (layout.index() > 0) {
    shared_rows_kernel("Softmax", layout, shared_table, in, out, stream());
  } else if (length <= kKeptFloats) {
    rows("Softmax", table, in, out, stream(), length);
  } else {
    rows("SoftmaxLong", long_table, in, out, stream());
  }
}

MLX_EVAL(LogSumExp) {
  array in = row_contiguous(inputs[0], stream());
  allocate_output(out);
  if (out.size() == 0) {
    return;
  }
  if (in.dtype() == float64) {
    check_float64("LogSumExp", stream());
    return cpu::logsumexp_float64(in, out, stream());
  }
  static KernelTable table(kDtypes), shared_table(kSharedRowKinds * kDtypes);
  if (in.shape(-1) == 0) {
    throw std::invalid_argument("[logsumexp] The last axis must not be empty.");
  }
  const SharedRows layout = shared_rows(in.shape(-1));
  if (layout.index() > 0) {
    return shared_rows_kernel("LogSumExp", layout, shared_table, in, out, stream());
  }
  rows("LogSumExp", table, in, out, stream());
}

}  // namespace mlx::core
