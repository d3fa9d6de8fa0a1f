// A fake of NVIDIA's cuFFT: it adds up the sums of transforms along one axis.
#include "cuda_driver/fake_cufft.h"

#include <cmath>
#include <complex>
#include <map>
#include <numbers>
#include <vector>

namespace metal::test {
namespace {

using cuda::CufftHandle;
using cuda::CufftResult;
using Complex = std::complex<float>;

struct FakePlan {
  long long length = 0, batch = 0;
  // Element i of transform j is at i * stride + j * distance; a distance of 0 is the transform's
  // own length.
  long long stride = 1, distance = 0;
  void* workspace = nullptr;

  size_t place(long long row, size_t element, long long own_length) const {
    return static_cast<size_t>(row * (distance ? distance : own_length)) +
           element * static_cast<size_t>(stride);
  }
};

template <typename Element>
std::vector<Element> row_of(const FakePlan& plan, void* data, long long row, long long length) {
  std::vector<Element> elements(static_cast<size_t>(length));
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = static_cast<Element*>(data)[plan.place(row, i, length)];
  return elements;
}

FakeCufft cufft_state;
std::map<CufftHandle, FakePlan> plans;

// Element k of the transform of one row.
template <typename Element>
std::complex<double> sum_of(const std::vector<Element>& row, size_t k, int direction) {
  std::complex<double> sum = 0;
  const auto n = static_cast<double>(row.size());
  for (size_t j = 0; j < row.size(); ++j) {
    const double angle = direction * 2 * std::numbers::pi * static_cast<double>(j * k) / n;
    sum += std::complex<double>(row[j]) * std::polar(1.0, angle);
  }
  return sum;
}

// Calls transform(plan, row number).
template <typename Transform>
CufftResult for_each_row(CufftHandle handle, Transform transform) {
  if (cufft_state.result != CufftResult::Success) return cufft_state.result;
  const FakePlan& plan = plans.at(handle);
  cufft_state.workspace = plan.workspace;
  for (long long row = 0; row < plan.batch; ++row) transform(plan, row);
  return CufftResult::Success;
}

}  // namespace

extern "C" {

FakeCufft& fake_cufft() { return cufft_state; }

CufftResult cufftCreate(CufftHandle* handle) {
  static CufftHandle next = 1;
  *handle = next++;
  plans[*handle] = {};
  return CufftResult::Success;
}

CufftResult cufftDestroy(CufftHandle handle) {
  plans.erase(handle);
  return CufftResult::Success;
}

CufftResult cufftSetAutoAllocation(CufftHandle, int) { return CufftResult::Success; }

CufftResult cufftMakePlanMany64(CufftHandle handle, int rank, long long* lengths, long long* rows,
                                long long stride, long long distance, long long*, long long,
                                long long, cuda::CufftType, long long batch, size_t* bytes) {
  if (rank != 1) return CufftResult::InvalidSize;
  plans[handle] = {lengths[0], batch, rows ? stride : 1, rows ? distance : 0, nullptr};
  *bytes = cufft_state.workspace_bytes;
  return cufft_state.result;
}

CufftResult cufftSetStream(CufftHandle, void*) { return CufftResult::Success; }

CufftResult cufftSetWorkArea(CufftHandle handle, void* workspace) {
  plans.at(handle).workspace = workspace;
  return CufftResult::Success;
}

CufftResult cufftExecC2C(CufftHandle handle, void* in, void* out, int direction) {
  return for_each_row(handle, [&](const FakePlan& plan, long long number) {
    const auto row = row_of<Complex>(plan, in, number, plan.length);
    for (size_t k = 0; k < row.size(); ++k)
      static_cast<Complex*>(out)[plan.place(number, k, plan.length)] =
          Complex(sum_of(row, k, direction));
  });
}

CufftResult cufftExecR2C(CufftHandle handle, void* in, void* out) {
  return for_each_row(handle, [&](const FakePlan& plan, long long number) {
    const auto row = row_of<float>(plan, in, number, plan.length);
    for (size_t k = 0; k <= row.size() / 2; ++k)
      static_cast<Complex*>(out)[plan.place(number, k, plan.length / 2 + 1)] =
          Complex(sum_of(row, k, cuda::kCufftForward));
  });
}

CufftResult cufftExecC2R(CufftHandle handle, void* in, void* out) {
  return for_each_row(handle, [&](const FakePlan& plan, long long number) {
    const auto n = static_cast<size_t>(plan.length);
    auto row = row_of<Complex>(plan, in, number, plan.length / 2 + 1);
    row.resize(n);
    for (size_t k = n / 2 + 1; k < n; ++k) row[k] = std::conj(row[n - k]);
    for (size_t k = 0; k < n; ++k)
      static_cast<float*>(out)[plan.place(number, k, plan.length)] =
          static_cast<float>(sum_of(row, k, cuda::kCufftInverse).real());
    for (size_t k = 0; k <= n / 2; ++k)  // as the real one may
      static_cast<Complex*>(in)[plan.place(number, k, plan.length / 2 + 1)] = Complex(NAN, NAN);
  });
}

}  // extern "C"
}  // namespace metal::test
