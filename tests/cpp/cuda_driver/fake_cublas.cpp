// A fake of NVIDIA's cuBLASLt: it multiplies float32 matrices, which are stored column by column,
// and knows no other types.
#include "cuda_driver/fake_cublas.h"

#include <cstring>
#include <utility>

namespace metal::cuda {

struct CublasProductObject {
  int a_transposed = 0, b_transposed = 0, epilogue = 0;
  const float* bias = nullptr;
};

struct CublasLayoutObject {
  CublasType type;
  int64_t rows, columns, leading;
  int32_t count = 1;
  int64_t step = 0;
};

struct CublasPreferenceObject {};

}  // namespace metal::cuda

namespace metal::test {
namespace {

FakeCublas cublas_state;

using cuda::CublasLayout;
using cuda::CublasProduct;
using cuda::CublasStatus;

struct Factor {
  const float* first;
  CublasLayout layout;
  bool transposed;

  float at(int64_t matrix, int64_t row, int64_t column) const {
    if (transposed) std::swap(row, column);
    return first[matrix * layout->step + column * layout->leading + row];
  }
};

}  // namespace

extern "C" {

FakeCublas& fake_cublas() { return cublas_state; }

CublasStatus cublasLtCreate(cuda::CublasHandle* handle) {
  *handle = reinterpret_cast<cuda::CublasHandle>(&cublas_state);
  return CublasStatus::Success;
}

const char* cublasLtGetStatusString(CublasStatus) { return "an error of the fake"; }

CublasStatus cublasLtMatmulDescCreate(CublasProduct* product, int, cuda::CublasType) {
  *product = new cuda::CublasProductObject;
  return CublasStatus::Success;
}

CublasStatus cublasLtMatmulDescDestroy(CublasProduct product) {
  delete product;
  return CublasStatus::Success;
}

CublasStatus cublasLtMatmulDescSetAttribute(CublasProduct product, cuda::ProductAttribute attribute,
                                            const void* value, size_t bytes) {
  using cuda::ProductAttribute;
  void* place = attribute == ProductAttribute::TransposeA   ? &product->a_transposed
                : attribute == ProductAttribute::TransposeB ? &product->b_transposed
                : attribute == ProductAttribute::Epilogue   ? &product->epilogue
                                                            : static_cast<void*>(&product->bias);
  std::memcpy(place, value, bytes);
  return CublasStatus::Success;
}

CublasStatus cublasLtMatrixLayoutCreate(CublasLayout* layout, cuda::CublasType type, uint64_t rows,
                                        uint64_t columns, int64_t leading) {
  *layout = new cuda::CublasLayoutObject{type, static_cast<int64_t>(rows),
                                         static_cast<int64_t>(columns), leading};
  return CublasStatus::Success;
}

CublasStatus cublasLtMatrixLayoutDestroy(CublasLayout layout) {
  delete layout;
  return CublasStatus::Success;
}

CublasStatus cublasLtMatrixLayoutSetAttribute(CublasLayout layout, cuda::LayoutAttribute attribute,
                                              const void* value, size_t bytes) {
  const bool count = attribute == cuda::LayoutAttribute::BatchCount;
  std::memcpy(count ? static_cast<void*>(&layout->count) : &layout->step, value, bytes);
  return CublasStatus::Success;
}

CublasStatus cublasLtMatmulPreferenceCreate(cuda::CublasPreference* preference) {
  *preference = new cuda::CublasPreferenceObject;
  return CublasStatus::Success;
}

CublasStatus cublasLtMatmulPreferenceDestroy(cuda::CublasPreference preference) {
  delete preference;
  return CublasStatus::Success;
}

CublasStatus cublasLtMatmulPreferenceSetAttribute(cuda::CublasPreference, cuda::PreferenceAttribute,
                                                  const void*, size_t) {
  return CublasStatus::Success;
}

CublasStatus cublasLtMatmulAlgoGetHeuristic(cuda::CublasHandle, CublasProduct, CublasLayout a,
                                            CublasLayout, CublasLayout, CublasLayout,
                                            cuda::CublasPreference, int, cuda::CublasChoice* choice,
                                            int* found) {
  *choice = {};
  choice->workspace_bytes = 256;
  *found = a->type == cuda::CublasType::Float32 ? 1 : 0;
  return *found ? CublasStatus::Success : CublasStatus::NotSupported;
}

CublasStatus cublasLtMatmul(cuda::CublasHandle, CublasProduct product, const void* alpha,
                            const void* a, CublasLayout a_layout, const void* b,
                            CublasLayout b_layout, const void* beta, const void* c, CublasLayout,
                            void* d, CublasLayout d_layout, const cuda::CublasAlgorithm*,
                            void* workspace, size_t workspace_bytes, void*) {
  if (cublas_state.result != CublasStatus::Success) return cublas_state.result;
  cublas_state.workspace = workspace;
  cublas_state.workspace_bytes = workspace_bytes;
  const Factor left{static_cast<const float*>(a), a_layout, product->a_transposed != 0};
  const Factor right{static_cast<const float*>(b), b_layout, product->b_transposed != 0};
  const int64_t depth = left.transposed ? a_layout->rows : a_layout->columns;
  for (int64_t i = 0; i < d_layout->count; ++i) {
    for (int64_t column = 0; column < d_layout->columns; ++column) {
      for (int64_t row = 0; row < d_layout->rows; ++row) {
        float sum = 0;
        for (int64_t k = 0; k < depth; ++k) sum += left.at(i, row, k) * right.at(i, k, column);
        const int64_t at = i * d_layout->step + column * d_layout->leading + row;
        const float scale = *static_cast<const float*>(beta);
        const float before = scale == 0 ? 0 : scale * static_cast<const float*>(c)[at];
        const float bias = product->epilogue == cuda::kAddBias ? product->bias[row] : 0;
        static_cast<float*>(d)[at] = *static_cast<const float*>(alpha) * sum + before + bias;
      }
    }
  }
  return CublasStatus::Success;
}

}  // extern "C"
}  // namespace metal::test
