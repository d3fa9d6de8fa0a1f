#include "clamped_sum/clamped_sum.h"

#include <cassert>
#include <iostream>
#include <sstream>

#include "mlx/allocator.h"
#include "mlx/backend/common/copy.h"
#include "mlx/backend/common/utils.h"
#include "mlx/utils.h"

#ifdef _METAL_
#include "mlx/backend/metal/device.h"
#include "mlx/backend/metal/utils.h"
#endif

namespace mlx::core {

array clamped_sum(const array& a, const array& b, const float low, const float high,
                  StreamOrDevice s /* = {} */) {
  auto promoted_dtype = promote_types(a.dtype(), b.dtype());
  auto out_dtype =
      is_floating_point(promoted_dtype) ? promoted_dtype : promote_types(promoted_dtype, float32);
  auto broadcasted = broadcast_arrays({astype(a, out_dtype, s), astype(b, out_dtype, s)}, s);
  auto out_shape = broadcasted[0].shape();
  return array(
      /* shape = */ out_shape,
      /* dtype = */ out_dtype,
      /* primitive = */ std::make_unique<ClampedSum>(to_stream(s), low, high),
      /* inputs = */ broadcasted);
}

template <typename T>
void clamped_sum_impl(const array& a, const array& b, array& out, float low, float high) {
  out.set_data(allocator::malloc_or_wait(out.nbytes()));
  const T* a_ptr = a.data<T>();
  const T* b_ptr = b.data<T>();
  T* out_ptr = out.data<T>();
  for (size_t i = 0; i < out.size(); i++) {
    auto a_offset = elem_to_loc(i, a.shape(), a.strides());
    auto b_offset = elem_to_loc(i, b.shape(), b.strides());
    float sum = static_cast<float>(a_ptr[a_offset] + b_ptr[b_offset]);
    out_ptr[i] = static_cast<T>(sum < low ? low : sum > high ? high : sum);
  }
}

// A first copy of b that a routine of a library would then work on in place.
template <typename T>
void clamped_sum_in_place(const array& a, const array& b, array& out, float low, float high) {
  out.set_data(allocator::malloc_or_wait(b.data_size() * out.itemsize()), b.data_size(),
               b.strides(), b.flags());
  copy_inplace(b, out, CopyType::Vector);
  const T* a_ptr = a.data<T>();
  T* out_ptr = out.data<T>();
  for (size_t i = 0; i < out.data_size(); i++) {
    out_ptr[i] = std::min(std::max(out_ptr[i] + a_ptr[i], low), high);
  }
}

void ClampedSum::eval(const std::vector<array>& inputs, std::vector<array>& out_arr) {
  auto& a = inputs[0];
  auto& b = inputs[1];
  auto& out = out_arr[0];
  if (out.dtype() == float32) {
    return clamped_sum_impl<float>(a, b, out, low_, high_);
  } else if (out.dtype() == float16) {
    return clamped_sum_impl<float16_t>(a, b, out, low_, high_);
  } else if (out.dtype() == bfloat16) {
    return clamped_sum_impl<bfloat16_t>(a, b, out, low_, high_);
  } else {
    throw std::runtime_error("ClampedSum is only supported for real floating point types.");
  }
}

void ClampedSum::eval_cpu(const std::vector<array>& inputs, std::vector<array>& outputs) {
  assert(inputs.size() == 2);
  auto& a = inputs[0];
  auto& b = inputs[1];
  if (outputs[0].dtype() == float32 && ((a.flags().row_contiguous && b.flags().row_contiguous) ||
                                        (a.flags().col_contiguous && b.flags().col_contiguous))) {
    clamped_sum_in_place<float>(a, b, outputs[0], low_, high_);
    return;
  }
  eval(inputs, outputs);
}

#ifdef _METAL_

void ClampedSum::eval_gpu(const std::vector<array>& inputs, std::vector<array>& outputs) {
  assert(inputs.size() == 2);
  auto& a = inputs[0];
  auto& b = inputs[1];
  auto& out = outputs[0];

  auto& s = stream();
  auto& d = metal::device(s.device);
  out.set_data(allocator::malloc_or_wait(out.nbytes()));

  std::ostringstream kname;
  kname << "clamped_sum_"
        << "general_" << type_to_name(out);
  d.register_library("mlx_ext", metal::get_colocated_mtllib_path);
  auto kernel = d.get_kernel(kname.str(), "mlx_ext");

  auto compute_encoder = d.get_command_encoder(s.index);
  compute_encoder->setComputePipelineState(kernel);

  int ndim = out.ndim();
  size_t nelem = out.size();

  set_array_buffer(compute_encoder, a, 0);
  set_array_buffer(compute_encoder, b, 1);
  set_array_buffer(compute_encoder, out, 2);
  compute_encoder->setBytes(&low_, sizeof(float), 3);
  compute_encoder->setBytes(&high_, sizeof(float), 4);
  compute_encoder->setBytes(a.shape().data(), ndim * sizeof(int), 5);
  compute_encoder->setBytes(a.strides().data(), ndim * sizeof(size_t), 6);
  compute_encoder->setBytes(b.strides().data(), ndim * sizeof(size_t), 7);
  compute_encoder->setBytes(&ndim, sizeof(int), 8);

  size_t tgp_size = std::min(nelem, kernel->maxTotalThreadsPerThreadgroup());
  MTL::Size group_dims = MTL::Size(tgp_size, 1, 1);
  MTL::Size grid_dims = MTL::Size(nelem, 1, 1);
  compute_encoder->dispatchThreads(grid_dims, group_dims);
}

#else

void ClampedSum::eval_gpu(const std::vector<array>&, std::vector<array>&) {
  throw std::runtime_error("ClampedSum has no GPU implementation.");
}

#endif

// One where the sum was not limited.
array ClampedSum::inside(const array& a, const array& b) {
  auto sum = add(a, b, stream());
  auto ok = logical_and(greater_equal(sum, array(low_), stream()),
                        less_equal(sum, array(high_), stream()), stream());
  return astype(ok, sum.dtype(), stream());
}

std::vector<array> ClampedSum::jvp(const std::vector<array>& primals,
                                   const std::vector<array>& tangents,
                                   const std::vector<int>& argnums) {
  auto tangent = tangents[0];
  if (argnums.size() > 1) {
    tangent = add(tangent, tangents[1], stream());
  }
  return {multiply(inside(primals[0], primals[1]), tangent, stream())};
}

std::vector<array> ClampedSum::vjp(const std::vector<array>& primals,
                                   const std::vector<array>& cotangents,
                                   const std::vector<int>& argnums, const std::vector<array>&) {
  std::vector<array> vjps;
  for (auto arg : argnums) {
    (void)arg;
    vjps.push_back(multiply(inside(primals[0], primals[1]), cotangents[0], stream()));
  }
  return vjps;
}

std::pair<std::vector<array>, std::vector<int>> ClampedSum::vmap(const std::vector<array>& inputs,
                                                                 const std::vector<int>& axes) {
  throw std::runtime_error("ClampedSum has no vmap implementation.");
}

bool ClampedSum::is_equivalent(const Primitive& other) const {
  const ClampedSum& r_other = static_cast<const ClampedSum&>(other);
  return low_ == r_other.low_ && high_ == r_other.high_;
}

}  // namespace mlx::core
