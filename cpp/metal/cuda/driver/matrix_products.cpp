#include "metal/cuda/driver/matrix_products.h"

#include <mutex>

#include "metal/cuda/driver/cublas_lt.h"
#include "metal/cuda/driver/library_search.h"

namespace metal::cuda {
namespace {

// What NVIDIA recommends for its newest GPUs.
constexpr uint64_t kMaxWorkspaceBytes = uint64_t{32} << 20;

CublasType type_in_cublas(MatrixType type) {
  switch (type) {
    case MatrixType::Float32:
      return CublasType::Float32;
    case MatrixType::Float16:
      return CublasType::Float16;
    case MatrixType::Bfloat16:
      return CublasType::Bfloat16;
    case MatrixType::Complex64:
      break;
  }
  return CublasType::Complex64;
}

// The library's matrices are stored column by column, so what it gets are the transposed ones: it
// computes c' = b' a', with n rows and m columns.
class CublasPlan : public MatrixProductPlan {
 public:
  CublasPlan(const CublasApi& api, const MatrixProduct& product)
      : api_(api), complex_(product.type == MatrixType::Complex64), adds_row_(product.adds_row) {
    describe(product);
  }
  ~CublasPlan() override {
    for (CublasLayout layout : {a_, b_, c_}) {
      if (layout) api_.cublasLtMatrixLayoutDestroy(layout);
    }
    if (product_) api_.cublasLtMatmulDescDestroy(product_);
  }
  CublasPlan(const CublasPlan&) = delete;
  CublasPlan& operator=(const CublasPlan&) = delete;

  // Whether the library has an algorithm for the product.
  bool choose(const MatrixProduct& product);

  size_t workspace_bytes() const override {
    return choice_.workspace_bytes ? choice_.workspace_bytes + kWorkspaceAlignment : 0;
  }
  void start(void* queue, void* const* buffers, double alpha, double beta) const override;

 private:
  void describe(const MatrixProduct& product);
  void set(ProductAttribute attribute, const void* value, size_t bytes) const;
  CublasLayout layout(const MatrixProduct& product, const MatrixProduct::Operand& operand,
                      int64_t rows, int64_t columns) const;

  const CublasApi& api_;
  const bool complex_, adds_row_;
  mutable std::mutex mutex_;  // the description has the address of the row to add
  CublasProduct product_ = nullptr;
  CublasLayout a_ = nullptr, b_ = nullptr, c_ = nullptr;
  CublasChoice choice_{};
};

void CublasPlan::describe(const MatrixProduct& product) {
  api_.check(api_.cublasLtMatmulDescCreate(&product_, kComputeFloat32,
                                           complex_ ? CublasType::Complex64 : CublasType::Float32),
             "describe a matrix product");
  if (product.b.transposed) set(ProductAttribute::TransposeA, &kTransposed, sizeof(kTransposed));
  if (product.a.transposed) set(ProductAttribute::TransposeB, &kTransposed, sizeof(kTransposed));
  if (adds_row_) set(ProductAttribute::Epilogue, &kAddBias, sizeof(kAddBias));
  a_ = layout(product, product.a, product.m, product.k);
  b_ = layout(product, product.b, product.k, product.n);
  c_ = layout(product, product.c, product.m, product.n);
}

void CublasPlan::set(ProductAttribute attribute, const void* value, size_t bytes) const {
  api_.check(api_.cublasLtMatmulDescSetAttribute(product_, attribute, value, bytes),
             "describe a matrix product");
}

CublasLayout CublasPlan::layout(const MatrixProduct& product, const MatrixProduct::Operand& operand,
                                int64_t rows, int64_t columns) const {
  const auto line = static_cast<uint64_t>(operand.transposed ? rows : columns);
  const auto lines = static_cast<uint64_t>(operand.transposed ? columns : rows);
  CublasLayout layout = nullptr;
  api_.check(api_.cublasLtMatrixLayoutCreate(&layout, type_in_cublas(product.type), line, lines,
                                             operand.leading),
             "describe a matrix");
  if (product.batch == 1) return layout;
  const auto count = static_cast<int32_t>(product.batch);
  api_.check(api_.cublasLtMatrixLayoutSetAttribute(layout, LayoutAttribute::BatchCount, &count,
                                                   sizeof(count)),
             "describe a batch of matrices");
  api_.check(api_.cublasLtMatrixLayoutSetAttribute(layout, LayoutAttribute::BatchStep,
                                                   &operand.step, sizeof(operand.step)),
             "describe a batch of matrices");
  return layout;
}

bool CublasPlan::choose(const MatrixProduct& product) {
  CublasPreference preference = nullptr;
  api_.check(api_.cublasLtMatmulPreferenceCreate(&preference), "choose an algorithm");
  const auto end = [this](CublasPreference made) { api_.cublasLtMatmulPreferenceDestroy(made); };
  const std::unique_ptr<CublasPreferenceObject, decltype(end)> owner(preference, end);
  const auto prefer = [&](PreferenceAttribute attribute, auto value) {
    api_.check(
        api_.cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value)),
        "choose an algorithm");
  };
  prefer(PreferenceAttribute::MaxWorkspaceBytes, kMaxWorkspaceBytes);
  prefer(PreferenceAttribute::ReductionSchemes, kReduceInComputeType);
  prefer(PreferenceAttribute::AlignmentA, product.b.alignment);
  prefer(PreferenceAttribute::AlignmentB, product.a.alignment);
  prefer(PreferenceAttribute::AlignmentC, product.c.alignment);
  prefer(PreferenceAttribute::AlignmentD, product.c.alignment);
  int found = 0;
  const CublasStatus status = api_.cublasLtMatmulAlgoGetHeuristic(
      api_.handle, product_, b_, a_, c_, c_, preference, 1, &choice_, &found);
  return status == CublasStatus::Success && found == 1 && choice_.status == CublasStatus::Success;
}

void CublasPlan::start(void* queue, void* const* buffers, double alpha, double beta) const {
  const std::lock_guard lock(mutex_);
  if (adds_row_)
    set(ProductAttribute::Bias, static_cast<const void*>(&buffers[4]), sizeof(buffers[4]));
  const float scales[2][2] = {{static_cast<float>(alpha), 0}, {static_cast<float>(beta), 0}};
  api_.check(api_.cublasLtMatmul(api_.handle, product_, scales[0], buffers[1], b_, buffers[0], a_,
                                 scales[1], buffers[2], c_, buffers[2], c_, &choice_.algorithm,
                                 aligned_workspace(buffers[3]), choice_.workspace_bytes, queue),
             "multiply matrices");
}

}  // namespace

std::shared_ptr<const MatrixProductPlan> plan_with_cublas(const Gpu& gpu,
                                                          const MatrixProduct& product) {
  const CublasApi* api = cublas_api(gpu);
  if (!api || product.batch > INT32_MAX) return nullptr;
  auto plan = std::make_shared<CublasPlan>(*api, product);
  return plan->choose(product) ? plan : nullptr;
}

}  // namespace metal::cuda
