#include "metal/cuda/driver/fourier_transforms.h"

#include <mutex>
#include <utility>
#include <vector>

#include "metal/cuda/driver/cufft.h"
#include "metal/cuda/driver/library_search.h"

namespace metal::cuda {
namespace {

CufftType type_in_cufft(TransformKind kind) {
  switch (kind) {
    case TransformKind::RealToComplex:
      return CufftType::RealToComplex;
    case TransformKind::ComplexToReal:
      return CufftType::ComplexToReal;
    case TransformKind::ComplexForward:
    case TransformKind::ComplexInverse:
      break;
  }
  return CufftType::Complex;
}

class CufftPlan : public FourierTransformPlan {
 public:
  CufftPlan(const CufftApi& api, TransformKind kind) : api_(api), kind_(kind) {
    CufftApi::check(api_.cufftCreate(&handle_), "make a plan");
  }
  ~CufftPlan() override { api_.cufftDestroy(handle_); }
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;

  // Whether the library computes the transform. Workspace is the caller's.
  bool plan(const FourierTransform& transform) {
    std::vector<long long> lengths(transform.lengths.begin(), transform.lengths.end());
    size_t bytes = 0;
    CufftApi::check(api_.cufftSetAutoAllocation(handle_, 0), "make a plan");
    // Without the lengths of rows in memory, the library ignores strides and distances.
    long long* rows = transform.stride == 1 ? nullptr : lengths.data();
    const CufftResult result = api_.cufftMakePlanMany64(
        handle_, static_cast<int>(lengths.size()), lengths.data(), rows, transform.stride, 1, rows,
        transform.stride, 1, type_in_cufft(kind_), transform.batch, &bytes);
    workspace_bytes_ = bytes ? bytes + kWorkspaceAlignment : 0;
    return result == CufftResult::Success;
  }

  size_t workspace_bytes() const override { return workspace_bytes_; }
  void start(void* queue, void* const* buffers) const override;

 private:
  CufftResult execute(void* in, void* out) const {
    switch (kind_) {
      case TransformKind::RealToComplex:
        return api_.cufftExecR2C(handle_, in, out);
      case TransformKind::ComplexToReal:
        return api_.cufftExecC2R(handle_, in, out);
      case TransformKind::ComplexForward:
        return api_.cufftExecC2C(handle_, in, out, kCufftForward);
      case TransformKind::ComplexInverse:
        break;
    }
    return api_.cufftExecC2C(handle_, in, out, kCufftInverse);
  }

  const CufftApi& api_;
  const TransformKind kind_;
  CufftHandle handle_ = 0;
  size_t workspace_bytes_ = 0;
  mutable std::mutex mutex_;  // the plan has the stream and the workspace
};

void CufftPlan::start(void* queue, void* const* buffers) const {
  const std::lock_guard lock(mutex_);
  CufftApi::check(api_.cufftSetStream(handle_, queue), "use a stream");
  if (workspace_bytes_ > 0) {
    CufftApi::check(api_.cufftSetWorkArea(handle_, aligned_workspace(buffers[2])), "use workspace");
  }
  CufftApi::check(execute(buffers[0], buffers[1]), "transform");
}

}  // namespace

std::shared_ptr<const FourierTransformPlan> plan_with_cufft(const FourierTransform& transform) {
  const CufftApi* api = cufft_api();
  if (!api) return nullptr;
  auto plan = std::make_shared<CufftPlan>(*api, transform.kind);
  return plan->plan(transform) ? plan : nullptr;
}

}  // namespace metal::cuda
