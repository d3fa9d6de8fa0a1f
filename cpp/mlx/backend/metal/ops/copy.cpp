// Copies and conversions.
#include "mlx/backend/common/copy.h"

#include "mlx/backend/host/float64.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/backend/metal/stream_state.h"

namespace mlx::core {

namespace {

constexpr const char* kCopyVariants[] = {"s", "v", "g", "gn", "r", "b", "t"};

MTL::ComputePipelineState* copy_kernel(int variant, Dtype from, Dtype to) {
  static KernelTable table(std::size(kCopyVariants) * kDtypes * kDtypes);
  size_t index = (variant * kDtypes + dtype_index(from)) * kDtypes + dtype_index(to);
  return table.get(index, [&] {
    return kernel_name("copy", kCopyVariants[variant], type_name(from), type_name(to));
  });
}

// Elements that keep their type are copied as integers: so float64 needs no kernels of its own.
Dtype moved_as(Dtype dtype) {
  switch (dtype.size()) {
    case 1:
      return uint8;
    case 2:
      return uint16;
    case 4:
      return uint32;
    default:
      return uint64;
  }
}

void copy_line(const array& in, array& out, int64_t in_offset, int64_t out_offset, size_t n,
               int variant, Stream s) {
  bool same = in.dtype() == out.dtype();
  Dtype from = same ? moved_as(in.dtype()) : in.dtype();
  Dtype to = same ? moved_as(out.dtype()) : out.dtype();
  auto& encoder = metal::get_command_encoder(s);
  dispatch_line(encoder, n, [&](int64_t first) {
    encoder.set_compute_pipeline_state(copy_kernel(variant, from, to));
    encoder.set_input_array(in, 0, (in_offset + (variant == 0 ? 0 : first)) * in.itemsize());
    encoder.set_output_array(out, 1, (out_offset + first) * out.itemsize());
  });
}

constexpr int kLongestShortRow = 8;

MTL::ComputePipelineState* short_row_kernel(bool interleaves, int length, Dtype dtype) {
  static KernelTable table(2 * (kLongestShortRow + 1) * kDtypes);
  size_t index = (interleaves * (kLongestShortRow + 1) + length) * kDtypes + dtype_index(dtype);
  return table.get(index, [&] {
    return kernel_name("copy", (interleaves ? "i" : "p") + std::to_string(length),
                       type_name(dtype));
  });
}

// Many short rows, which lie side by side in the output. The lanes of the other kernels copy
// neighbouring elements: few would be active, or far apart. False where the walk is another one.
bool copy_short_rows(const array& in, array& out, const StridedWalk& walk, int64_t in_offset,
                     int64_t out_offset, Stream s) {
  size_t ndim = walk.shape.size();
  if (in.dtype() != out.dtype() || ndim < 2 || ndim > 5 || walk.shape[ndim - 2] < int(kLanes)) {
    return false;
  }
  int length = walk.shape[ndim - 1];
  auto stride = [&](int operand, size_t back) { return walk.strides[operand][ndim - back]; };
  bool interleaves = stride(0, 2) == 1;
  if (length > kLongestShortRow || !walk.side_by_side(1) || stride(1, 2) != length ||
      !(interleaves || walk.side_by_side(0))) {
    return false;
  }
  auto rows_of = [](auto values) {
    values.pop_back();
    return values;
  };
  StridedWalk rows(rows_of(walk.shape), {rows_of(walk.strides[0]), rows_of(walk.strides[1])});
  auto& encoder = metal::get_command_encoder(s);
  encoder.set_compute_pipeline_state(short_row_kernel(interleaves, length, moved_as(in.dtype())));
  encoder.set_input_array(in, 0, in_offset * in.itemsize());
  encoder.set_output_array(out, 1, out_offset * out.itemsize());
  if (interleaves) {
    encoder.set_bytes(stride(0, 1), 3);
  }
  rows.run<2>(encoder, 2);
  return true;
}

// Whether the operands are contiguous along different dimensions, both long enough for squares.
// Moves the input's to the last place but one.
bool becomes_transposition(StridedWalk& walk) {
  constexpr int kShortest = 16;
  size_t ndim = walk.shape.size();
  if (ndim < 2 || walk.deep() || !walk.side_by_side(1) || walk.shape[ndim - 1] < kShortest) {
    return false;
  }
  for (size_t d = 0; d + 1 < ndim; ++d) {
    if (walk.strides[0][d] != 1 || walk.shape[d] < kShortest) {
      continue;
    }
    std::swap(walk.shape[d], walk.shape[ndim - 2]);
    for (auto& strides : walk.strides) {
      std::swap(strides[d], strides[ndim - 2]);
    }
    return true;
  }
  return false;
}

void transpose(const StridedWalk& walk, size_t element_bytes, metal::CommandEncoder& encoder) {
  size_t ndim = walk.shape.size();
  int extents[] = {walk.shape[ndim - 1], walk.shape[ndim - 2]};
  size_t side = square_side(static_cast<int>(element_bytes));
  auto squares = [side](size_t extent) { return (extent + side - 1) / side; };
  encoder.set_bytes(walk.parameters<2>(), 2);
  encoder.set_bytes(extents, 3);
  encoder.dispatch_threadgroups(MTL::Size(squares(extents[0]), squares(extents[1]), walk.layers()),
                                MTL::Size(side, kSquareRows, 1));
}

void copy_strided(const array& in, array& out, const Shape& shape, const Strides& in_strides,
                  const Strides& out_strides, int64_t in_offset, int64_t out_offset, Stream s) {
  bool same = in.dtype() == out.dtype();
  StridedWalk walk(shape, {in_strides, out_strides});
  if (walk.shape.size() == 1 && (walk.strides[0][0] == 1 || walk.shape[0] == 1) &&
      (walk.strides[1][0] == 1 || walk.shape[0] == 1)) {
    return copy_line(in, out, in_offset, out_offset, walk.shape[0], 1, s);
  }
  if (copy_short_rows(in, out, walk, in_offset, out_offset, s)) {
    return;
  }
  Dtype from = same ? moved_as(in.dtype()) : in.dtype();
  Dtype to = same ? moved_as(out.dtype()) : out.dtype();
  auto& encoder = metal::get_command_encoder(s);
  int variant = 2;
  if (walk.deep()) {
    variant = 3;
  } else if (walk.side_by_side(1) && walk.side_by_side(0)) {
    variant = 4;
  } else if (walk.side_by_side(1) && walk.backwards(0) && same) {
    variant = 5;
  } else if (same && becomes_transposition(walk)) {
    variant = 6;
  }
  encoder.set_compute_pipeline_state(copy_kernel(variant, from, to));
  encoder.set_input_array(in, 0, in_offset * in.itemsize());
  encoder.set_output_array(out, 1, out_offset * out.itemsize());
  if (variant == 6) {
    transpose(walk, in.itemsize(), encoder);
  } else if (walk.deep()) {
    walk.run_deep(encoder, 2);
  } else {
    walk.run<2>(encoder, 2);
  }
}

}  // namespace

bool set_copy_output_data(const array& in, array& out, CopyType type) {
  if (type == CopyType::Vector) {
    if (is_donatable(in, out)) {
      out.copy_shared_buffer(in);
      return true;
    }
    out.set_data(allocator::malloc(in.data_size() * out.itemsize()), in.data_size(), in.strides(),
                 in.flags());
    return false;
  }
  allocate_output(out);
  return false;
}

void copy(const array& in, array& out, CopyType type, Stream s) {
  bool donated = set_copy_output_data(in, out, type);
  if (donated && in.dtype() == out.dtype()) {
    return;
  }
  copy_inplace(in, out, type == CopyType::GeneralGeneral ? CopyType::General : type, s);
}

void copy_inplace(const array& in, array& out, CopyType type, Stream s) {
  if (type == CopyType::Scalar || type == CopyType::Vector) {
    if (out.size() == 0) {
      return;
    }
    if (in.dtype() != out.dtype() && (in.dtype() == float64 || out.dtype() == float64)) {
      if (out.dtype() == float64) {
        check_float64("AsType", s);
      }
      size_t n = type == CopyType::Scalar ? out.data_size() : in.data_size();
      return cpu::convert_float64(in, out, {static_cast<int>(n)},
                                  {type == CopyType::Scalar ? 0 : 1}, {1}, 0, 0, s);
    }
    bool scalar = type == CopyType::Scalar;
    return copy_line(in, out, 0, 0, scalar ? out.data_size() : in.data_size(), scalar ? 0 : 1, s);
  }
  copy_inplace(in, out, in.shape(), in.strides(), out.strides(), 0, 0, type, s);
}

void copy_inplace(const array& in, array& out, const Shape& shape, const Strides& in_strides,
                  const Strides& out_strides, int64_t in_offset, int64_t out_offset, CopyType,
                  Stream s) {
  if (shape_size(shape) == 0) {
    return;
  }
  if (in.dtype() != out.dtype() && (in.dtype() == float64 || out.dtype() == float64)) {
    if (out.dtype() == float64) {
      check_float64("AsType", s);
    }
    return cpu::convert_float64(in, out, shape, in_strides, out_strides, in_offset, out_offset, s);
  }
  copy_strided(in, out, shape, in_strides, out_strides, in_offset, out_offset, s);
}

void copy(const array& in, array& out, CopyType type) {
  auto s = default_stream(Device::cpu);
  copy(in, out, type, s);
  metal::device(s.device).get_stream(s.index).synchronize();
}

void copy_inplace(const array& in, array& out, CopyType type) {
  auto s = default_stream(Device::cpu);
  copy_inplace(in, out, type, s);
  metal::device(s.device).get_stream(s.index).synchronize();
}

array contiguous_copy(const array& a, Stream s) {
  array out(a.shape(), a.dtype(), nullptr, {});
  copy(a, out, CopyType::General, s);
  metal::get_command_encoder(s).add_temporary(out);
  return out;
}

bool reads_apart(const array& a, Stream s) {
  constexpr size_t kLarge = 1 << 14;
  bool fills_memory = a.flags().contiguous && a.data_size() == a.size();
  if (runs_on_gpu(s) || a.size() < kLarge || a.flags().row_contiguous || !fills_memory) {
    return false;
  }
  StridedWalk walk(a.shape(), {a.strides(), make_contiguous_strides(a.shape())});
  return becomes_transposition(walk);
}

array untransposed(const array& a, Stream s) {
  return reads_apart(a, s) ? contiguous_copy(a, s) : a;
}

void fill(const array& value, array& out, Stream s) {
  copy(value, out, CopyType::Scalar, s);
  metal::get_command_encoder(s).add_temporary(value);
}

array row_contiguous(const array& a, Stream s) {
  if (a.flags().row_contiguous) {
    return a;
  }
  return contiguous_copy(a, s);
}

array converted(const array& a, Dtype dtype, Stream s) {
  if (a.dtype() == dtype) {
    return row_contiguous(a, s);
  }
  array out(a.shape(), dtype, nullptr, {});
  copy(a, out, CopyType::General, s);
  metal::get_command_encoder(s).add_temporary(out);
  return out;
}

}  // namespace mlx::core
