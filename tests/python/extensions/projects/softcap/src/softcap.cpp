#include "src/softcap.h"

#include <dlfcn.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "mlx/backend/common/utils.h"
#include "mlx/backend/cpu/encoder.h"
#include "mlx/utils.h"

#ifdef _METAL_
#include "mlx/backend/gpu/copy.h"
#include "mlx/backend/metal/device.h"
#include "mlx/backend/metal/utils.h"
#endif

namespace my_ops {

std::string current_binary_dir() {
  static std::string binary_dir = []() {
    Dl_info info;
    if (!dladdr(reinterpret_cast<void*>(&current_binary_dir), &info)) {
      throw std::runtime_error("Unable to get current binary dir.");
    }
    return std::filesystem::path(info.dli_fname).parent_path().string();
  }();
  return binary_dir;
}

mx::array softcap(const mx::array& x, float cap, mx::StreamOrDevice s) {
  auto dtype = mx::issubdtype(x.dtype(), mx::floating) ? x.dtype() : mx::float32;
  return mx::array(x.shape(), dtype, std::make_shared<Softcap>(to_stream(s), cap),
                   {mx::astype(x, dtype, s)});
}

std::vector<mx::array> capped_rows(const mx::array& x, float cap, mx::StreamOrDevice s) {
  if (x.ndim() == 0) {
    std::ostringstream msg;
    msg << "[capped_rows] x must have at least one axis, but its shape is " << x.shape() << ".";
    throw std::invalid_argument(msg.str());
  }
  auto row_shape = x.shape();
  row_shape.pop_back();
  return mx::array::make_arrays({x.shape(), row_shape}, {mx::float32, mx::float32},
                                std::make_shared<CappedRows>(to_stream(s), cap),
                                {mx::astype(x, mx::float32, s)});
}

template <typename T>
void softcap_loop(const mx::array& x, mx::array& out, float cap, mx::Stream stream) {
  out.set_data(mx::allocator::malloc(out.nbytes()));
  auto& encoder = mx::cpu::get_command_encoder(stream);
  encoder.set_input_array(x);
  encoder.set_output_array(out);
  encoder.dispatch(
      [x = mx::array::unsafe_weak_copy(x), out = mx::array::unsafe_weak_copy(out), cap]() mutable {
        auto src = x.data<T>();
        auto dst = out.data<T>();
        mx::ContiguousIterator it(x);
        for (size_t i = 0; i < x.size(); ++i) {
          dst[i] = static_cast<T>(cap * std::tanh(static_cast<float>(src[it.loc]) / cap));
          it.step();
        }
      });
}

void Softcap::eval_cpu(const std::vector<mx::array>& inputs, mx::array& out) {
  switch (out.dtype()) {
    case mx::float32:
      return softcap_loop<float>(inputs[0], out, cap_, stream());
    case mx::float16:
      return softcap_loop<mx::float16_t>(inputs[0], out, cap_, stream());
    case mx::bfloat16:
      return softcap_loop<mx::bfloat16_t>(inputs[0], out, cap_, stream());
    default:
      throw std::runtime_error("[Softcap::eval_cpu] Unsupported type.");
  }
}

void CappedRows::eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) {
  auto x = inputs[0];
  auto& encoder = mx::cpu::get_command_encoder(stream());
  if (!x.flags().row_contiguous) {
    auto dense = mx::array(x.shape(), x.dtype(), nullptr, {});
    mx::copy(x, dense, mx::CopyType::General, stream());
    encoder.add_temporary(dense);
    x = dense;
  }
  auto& out = outputs[0];
  auto& rows = outputs[1];
  out.set_data(mx::allocator::malloc(out.nbytes()));
  rows.set_data(mx::allocator::malloc(rows.nbytes()));
  encoder.set_input_array(x);
  encoder.set_output_array(out);
  encoder.set_output_array(rows);
  encoder.dispatch(
      [](const float* x, float* out, float* rows, size_t count, int length, float cap) {
        for (size_t r = 0; r < count; ++r) {
          float largest = 0;
          for (int i = 0; i < length; ++i) {
            float v = x[r * length + i];
            largest = std::max(largest, std::abs(v));
            out[r * length + i] = cap * std::tanh(v / cap);
          }
          rows[r] = largest;
        }
      },
      x.data<float>(), out.data<float>(), rows.data<float>(), rows.size(), x.shape(-1), cap_);
}

#ifdef _METAL_

void Softcap::eval_gpu(const std::vector<mx::array>& inputs, mx::array& out) {
  auto& x = inputs[0];
  auto& s = stream();
  auto& d = mx::metal::device(s.device);

  bool contiguous = x.flags().contiguous;
  if (contiguous) {
    out.set_data(mx::allocator::malloc(x.data_size() * out.itemsize()), x.data_size(), x.strides(),
                 x.flags());
  } else {
    out.set_data(mx::allocator::malloc(out.nbytes()));
  }

  std::string kname;
  mx::concatenate(kname, "softcap_", type_to_name(out));
  std::string hash_name = kname + (contiguous ? "_contiguous" : "_general");
  mx::metal::MTLFCList func_consts = {{&contiguous, MTL::DataType::DataTypeBool, 20}};

  auto lib = d.get_library("softcap", current_binary_dir());
  auto kernel = d.get_kernel(kname, lib, hash_name, func_consts);
  auto& compute_encoder = d.get_command_encoder(s.index);
  compute_encoder.set_compute_pipeline_state(kernel);

  size_t nelem = contiguous ? x.data_size() : x.size();
  int ndim = out.ndim();
  compute_encoder.set_input_array(x, 0);
  compute_encoder.set_output_array(out, 1);
  compute_encoder.set_bytes(cap_, 2);
  if (!contiguous) {
    compute_encoder.set_vector_bytes(x.shape(), 3);
    compute_encoder.set_vector_bytes(x.strides(), 4);
    compute_encoder.set_bytes(ndim, 5);
  }
  auto group_dims = mx::get_block_dims(nelem, 1, 1);
  MTL::Size grid_dims = MTL::Size(nelem, 1, 1);
  compute_encoder.dispatch_threads(grid_dims, group_dims);
}

void CappedRows::eval_gpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) {
  auto& s = stream();
  auto& d = mx::metal::device(s.device);
  auto x = inputs[0];
  auto& out = outputs[0];
  auto& rows = outputs[1];
  auto& compute_encoder = mx::metal::get_command_encoder(s);
  if (!x.flags().row_contiguous) {
    x = mx::contiguous_copy_gpu(x, s);
    d.add_temporary(x, s.index);
  }
  out.set_data(mx::allocator::malloc(out.nbytes()));
  rows.set_data(mx::allocator::malloc(rows.nbytes()));

  auto kernel = d.get_kernel("capped_rows", d.get_library("softcap", current_binary_dir()));
  compute_encoder.set_compute_pipeline_state(kernel);
  compute_encoder.set_input_array(x, 0);
  compute_encoder.set_output_array(out, 1);
  compute_encoder.set_output_array(rows, 2);
  compute_encoder.set_bytes(cap_, 3);
  compute_encoder.set_bytes(static_cast<int>(x.shape(-1)), 4);
  compute_encoder.set_threadgroup_memory_length(8 * sizeof(float), 0);
  compute_encoder.dispatch_threadgroups(MTL::Size(rows.size(), 1, 1), MTL::Size(256, 1, 1));
}

#else

void Softcap::eval_gpu(const std::vector<mx::array>&, mx::array&) {
  throw std::runtime_error("Softcap has no GPU implementation.");
}

void CappedRows::eval_gpu(const std::vector<mx::array>&, std::vector<mx::array>&) {
  throw std::runtime_error("CappedRows has no GPU implementation.");
}

#endif

std::pair<std::vector<mx::array>, std::vector<int>> Softcap::vmap(
    const std::vector<mx::array>& inputs, const std::vector<int>& axes) {
  return {{softcap(inputs[0], cap_, stream())}, axes};
}

}  // namespace my_ops
