#include "metal/cuda/driver/cudnn_graph.h"

#include <algorithm>
#include <mutex>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "metal/cuda/driver/library_search.h"

namespace metal::cuda {
namespace {

enum class Kind : int {
  Pointwise = 0,
  Convolution = 1,
  Engine = 2,
  EngineConfiguration = 3,
  EngineHeuristics = 4,
  ExecutionPlan = 5,
  ConvolutionOutput = 10,
  ConvolutionWeight = 11,
  ConvolutionInput = 12,
  PointwiseOperation = 13,
  OperationGraph = 15,
  VariantPack = 16,  // the arguments of one run
  Tensor = 17,
  Matmul = 18,
  MatmulOperation = 19,
  Reduction = 21,
  ReductionOperation = 22,
};

enum class Attribute : int {
  PointwiseFunction = 0,
  PointwiseType = 1,
  PointwiseAxis = 9,
  ConvolutionType = 100,
  ConvolutionMode = 101,
  ConvolutionDilation = 102,
  ConvolutionStride = 103,
  ConvolutionPaddingAfter = 104,
  ConvolutionPaddingBefore = 105,
  ConvolutionAxes = 106,
  HeuristicsMode = 200,
  HeuristicsGraph = 201,
  HeuristicsResults = 202,
  ConfiguredEngine = 300,
  PlanHandle = 400,
  PlanEngine = 401,
  PlanWorkspaceBytes = 402,
  // Each is followed by the factor of what the result had before, the description, the weight, the
  // input and the output.
  ConvolutionOutputFactor = 700,
  ConvolutionInputFactor = 706,
  ConvolutionWeightFactor = 712,
  PointwiseOperationFunction = 750,
  PointwiseOperationFirst = 751,
  PointwiseOperationSecond = 752,
  PointwiseOperationResult = 753,
  PointwiseOperationThird = 758,
  GraphHandle = 800,
  GraphOperations = 801,
  TensorAlignment = 900,  // bytes
  TensorType = 901,
  TensorDims = 902,
  TensorStrides = 903,
  TensorNumber = 906,
  TensorIsIntermediate = 907,
  TensorIsArgument = 908,  // a number of the host
  PackTensors = 1000,
  PackAddresses = 1001,
  PackWorkspace = 1003,
  EngineNotes = 1303,
  EngineBehaviors = 1305,
  MatmulType = 1500,
  MatmulFirst = 1520,
  MatmulSecond = 1521,
  MatmulResult = 1522,
  MatmulDescription = 1523,
  ReductionFunction = 1600,
  ReductionType = 1601,
  ReductionOperand = 1610,
  ReductionResult = 1611,
  ReductionDescription = 1612,
};

enum class ConvolutionMode : int { CrossCorrelation = 1 };

// How the library names the type of an attribute's values.
template <typename T>
constexpr int kTypeNumber = std::is_same_v<T, CudnnHandle>       ? 0
                            : std::is_same_v<T, CudnnType>       ? 1
                            : std::is_same_v<T, bool>            ? 2
                            : std::is_same_v<T, int64_t>         ? 3
                            : std::is_same_v<T, float>           ? 4
                            : std::is_same_v<T, void*>           ? 6
                            : std::is_same_v<T, ConvolutionMode> ? 7
                            : std::is_same_v<T, CudnnHeuristics> ? 8
                            : std::is_same_v<T, CudnnNote>       ? 11
                            : std::is_same_v<T, CudnnPointwise>  ? 14
                            : std::is_same_v<T, CudnnDescriptor> ? 15
                            : std::is_same_v<T, CudnnReduction>  ? 18
                            : std::is_same_v<T, CudnnBehavior>   ? 19
                                                                 : -1;

constexpr size_t kMostWorkspaceBytes = size_t{1} << 30;
constexpr const char* kAction = "plan a graph of operations";

// The kind of the operation, and the first of its attributes.
std::pair<Kind, Attribute> convolution_numbers(ConvolutionResult result) {
  switch (result) {
    case ConvolutionResult::Input:
      return {Kind::ConvolutionInput, Attribute::ConvolutionInputFactor};
    case ConvolutionResult::Weight:
      return {Kind::ConvolutionWeight, Attribute::ConvolutionWeightFactor};
    case ConvolutionResult::Output:
      break;
  }
  return {Kind::ConvolutionOutput, Attribute::ConvolutionOutputFactor};
}

CudnnGraph::Dims packed_strides(const CudnnGraph::Dims& dims) {
  CudnnGraph::Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

}  // namespace

CudnnType type_in_cudnn(MatrixType type) {
  switch (type) {
    case MatrixType::Float16:
      return CudnnType::Float16;
    case MatrixType::Bfloat16:
      return CudnnType::Bfloat16;
    case MatrixType::Float32:
    case MatrixType::Complex64:
      break;
  }
  return CudnnType::Float32;
}

class CudnnGraph::Description {
 public:
  Description(const CudnnApi& api, Kind kind) : api_(api) {
    api_.check(api_.cudnnBackendCreateDescriptor(static_cast<int>(kind), &descriptor_), kAction);
  }
  ~Description() { api_.cudnnBackendDestroyDescriptor(descriptor_); }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

  template <typename T>
  Description& set(Attribute attribute, std::span<const T> values) {
    static_assert(kTypeNumber<T> >= 0);
    api_.check(api_.cudnnBackendSetAttribute(descriptor_, static_cast<int>(attribute),
                                             kTypeNumber<T>, static_cast<int64_t>(values.size()),
                                             static_cast<const void*>(values.data())),
               kAction);
    return *this;
  }
  template <typename T>
  Description& set(Attribute attribute, const std::vector<T>& values) {
    return set(attribute, std::span<const T>(values));
  }
  template <typename T>
  Description& set(Attribute attribute, const T& value) {
    return set(attribute, std::span<const T>(&value, 1));
  }
  Description& set(Attribute attribute, const Description& other) {
    return set(attribute, other.descriptor_);
  }

  // Reads as many values as there are, up to the number of those given. Descriptions are read into
  // given ones. Returns how many were read.
  template <typename T>
  size_t get(Attribute attribute, std::span<T> values) const {
    int64_t count = 0;
    api_.check(api_.cudnnBackendGetAttribute(descriptor_, static_cast<int>(attribute),
                                             kTypeNumber<T>, static_cast<int64_t>(values.size()),
                                             &count, static_cast<void*>(values.data())),
               kAction);
    return std::min(static_cast<size_t>(count), values.size());
  }

  template <typename T>
  bool has_any_of(const std::vector<T>& wanted, Attribute attribute) const {
    T values[16];
    const std::span found(values, get(attribute, std::span<T>(values)));
    return std::any_of(found.begin(), found.end(), [&](T value) {
      return std::find(wanted.begin(), wanted.end(), value) != wanted.end();
    });
  }

  void finish() { api_.check(api_.cudnnBackendFinalize(descriptor_), kAction); }
  // False if the library has nothing of the kind for this GPU.
  bool try_to_finish() { return api_.cudnnBackendFinalize(descriptor_) == CudnnStatus::Success; }

  CudnnDescriptor descriptor() const { return descriptor_; }

 private:
  const CudnnApi& api_;
  CudnnDescriptor descriptor_ = nullptr;
};

CudnnGraph::Description& CudnnGraph::description(Tensor tensor) const {
  return *tensors_[static_cast<size_t>(tensor) - 1];
}

CudnnGraph::Tensor CudnnGraph::describe(CudnnType type, const Dims& dims, const Dims& strides,
                                        Place place) {
  constexpr int64_t kAlignment = 16;
  const auto tensor = static_cast<Tensor>(tensors_.size()) + 1;
  auto made = std::make_shared<Description>(api_, Kind::Tensor);
  made->set(Attribute::TensorType, type)
      .set(Attribute::TensorDims, dims)
      .set(Attribute::TensorStrides, strides)
      .set(Attribute::TensorNumber, tensor)
      .set(Attribute::TensorAlignment, kAlignment)
      .set(Attribute::TensorIsIntermediate, place == Place::Nowhere)
      .set(Attribute::TensorIsArgument, place == Place::Argument)
      .finish();
  tensors_.push_back(std::move(made));
  return tensor;
}

CudnnGraph::Tensor CudnnGraph::array(CudnnType type, const Dims& dims, const Dims& strides) {
  arrays_.push_back(describe(type, dims, strides, Place::Memory));
  return arrays_.back();
}

CudnnGraph::Tensor CudnnGraph::intermediate(CudnnType type, const Dims& dims) {
  return describe(type, dims, packed_strides(dims), Place::Nowhere);
}

CudnnGraph::Tensor CudnnGraph::add_number(CudnnType type, std::shared_ptr<const void> value) {
  const Dims one(4, 1);
  numbers_.emplace_back(describe(type, one, one, Place::Argument), std::move(value));
  return numbers_.back().first;
}

CudnnGraph::Tensor CudnnGraph::number(float value) {
  return add_number(CudnnType::Float32, std::make_shared<const float>(value));
}

CudnnGraph::Tensor CudnnGraph::number(int32_t value) {
  return add_number(CudnnType::Int32, std::make_shared<const int32_t>(value));
}

void CudnnGraph::add_operation(Owned function, Owned operation) {
  operation->finish();
  others_.push_back(std::move(function));
  operations_.push_back(std::move(operation));
}

void CudnnGraph::multiply_matrices(Tensor a, Tensor b, Tensor result) {
  auto function = std::make_shared<Description>(api_, Kind::Matmul);
  function->set(Attribute::MatmulType, CudnnType::Float32).finish();
  auto operation = std::make_shared<Description>(api_, Kind::MatmulOperation);
  operation->set(Attribute::MatmulDescription, *function)
      .set(Attribute::MatmulFirst, description(a))
      .set(Attribute::MatmulSecond, description(b))
      .set(Attribute::MatmulResult, description(result));
  add_operation(std::move(function), std::move(operation));
}

void CudnnGraph::reduce(CudnnReduction reduction, Tensor operand, Tensor result) {
  auto function = std::make_shared<Description>(api_, Kind::Reduction);
  function->set(Attribute::ReductionFunction, reduction)
      .set(Attribute::ReductionType, CudnnType::Float32)
      .finish();
  auto operation = std::make_shared<Description>(api_, Kind::ReductionOperation);
  operation->set(Attribute::ReductionDescription, *function)
      .set(Attribute::ReductionOperand, description(operand))
      .set(Attribute::ReductionResult, description(result));
  add_operation(std::move(function), std::move(operation));
}

void CudnnGraph::apply(CudnnPointwise function, std::initializer_list<Tensor> operands,
                       Tensor result, CudnnType type, int64_t axis) {
  auto described = std::make_shared<Description>(api_, Kind::Pointwise);
  described->set(Attribute::PointwiseFunction, function).set(Attribute::PointwiseType, type);
  if (axis >= 0) described->set(Attribute::PointwiseAxis, axis);
  described->finish();
  auto operation = std::make_shared<Description>(api_, Kind::PointwiseOperation);
  operation->set(Attribute::PointwiseOperationFunction, *described);
  constexpr Attribute kOperands[] = {Attribute::PointwiseOperationFirst,
                                     Attribute::PointwiseOperationSecond,
                                     Attribute::PointwiseOperationThird};
  const Attribute* attribute = kOperands;
  for (Tensor operand : operands) operation->set(*attribute++, description(operand));
  operation->set(Attribute::PointwiseOperationResult, description(result));
  add_operation(std::move(described), std::move(operation));
}

void CudnnGraph::convolve(ConvolutionResult result, const Arrays& arrays, const Window& window) {
  auto function = std::make_shared<Description>(api_, Kind::Convolution);
  function->set(Attribute::ConvolutionAxes, static_cast<int64_t>(window.padding.size()))
      .set(Attribute::ConvolutionType, CudnnType::Float32)
      .set(Attribute::ConvolutionMode, ConvolutionMode::CrossCorrelation)
      .set(Attribute::ConvolutionPaddingBefore, window.padding)
      .set(Attribute::ConvolutionPaddingAfter, window.padding)
      .set(Attribute::ConvolutionStride, window.stride)
      .set(Attribute::ConvolutionDilation, window.dilation)
      .finish();
  const auto [kind, factor] = convolution_numbers(result);
  auto operation = std::make_shared<Description>(api_, kind);
  auto next = [factor = static_cast<int>(factor)]() mutable {
    return static_cast<Attribute>(factor++);
  };
  operation->set(next(), 1.0f)
      .set(next(), 0.0f)
      .set(next(), *function)
      .set(next(), description(arrays.weight))
      .set(next(), description(arrays.input))
      .set(next(), description(arrays.output));
  add_operation(std::move(function), std::move(operation));
}

void CudnnGraph::plan(const CudnnRefused& refused) {
  std::vector<CudnnDescriptor> operations;
  for (const auto& operation : operations_) operations.push_back(operation->descriptor());
  auto graph = std::make_shared<Description>(api_, Kind::OperationGraph);
  graph->set(Attribute::GraphOperations, operations)
      .set(Attribute::GraphHandle, api_.handle)
      .finish();
  others_.push_back(graph);
  for (const auto heuristics : {CudnnHeuristics::ByShapes, CudnnHeuristics::Slow}) {
    for (const Owned& engine : engines(*graph, heuristics)) {
      if (plan_with(engine, refused)) return;
    }
  }
  throw std::runtime_error("NVIDIA's cuDNN has no engine for a graph of operations");
}

std::vector<CudnnGraph::Owned> CudnnGraph::engines(const Description& graph,
                                                   CudnnHeuristics heuristics) const {
  constexpr size_t kMost = 64;
  Description question(api_, Kind::EngineHeuristics);
  question.set(Attribute::HeuristicsGraph, graph).set(Attribute::HeuristicsMode, heuristics);
  if (!question.try_to_finish()) return {};
  std::vector<Owned> engines;
  std::vector<CudnnDescriptor> descriptors;
  for (size_t i = 0; i < kMost; ++i) {
    engines.push_back(std::make_shared<Description>(api_, Kind::EngineConfiguration));
    descriptors.push_back(engines.back()->descriptor());
  }
  engines.resize(question.get(Attribute::HeuristicsResults, std::span(descriptors)));
  return engines;
}

bool CudnnGraph::plan_with(const Owned& engine, const CudnnRefused& refused) {
  try {
    const Description kind(api_, Kind::Engine);
    CudnnDescriptor descriptor = kind.descriptor();
    engine->get(Attribute::ConfiguredEngine, std::span(&descriptor, 1));
    if (kind.has_any_of(refused.notes, Attribute::EngineNotes) ||
        kind.has_any_of(refused.behaviors, Attribute::EngineBehaviors)) {
      return false;
    }
    auto plan = std::make_shared<Description>(api_, Kind::ExecutionPlan);
    plan->set(Attribute::PlanEngine, *engine).set(Attribute::PlanHandle, api_.handle).finish();
    int64_t bytes = 0;
    plan->get(Attribute::PlanWorkspaceBytes, std::span(&bytes, 1));
    if (static_cast<size_t>(bytes) > kMostWorkspaceBytes) return false;
    workspace_bytes_ = static_cast<size_t>(bytes);
    plan_ = std::move(plan);
    others_.push_back(engine);
    return true;
  } catch (const std::runtime_error&) {
    return false;  // The library knows engines that this GPU lacks.
  }
}

size_t CudnnGraph::workspace_bytes() const {
  return workspace_bytes_ ? workspace_bytes_ + kWorkspaceAlignment : 0;
}

void CudnnGraph::run(void* queue, void* const* buffers) const {
  const std::lock_guard lock(api_.mutex);
  const size_t arrays = arrays_.size();
  void* workspace = workspace_bytes_ ? aligned_workspace(buffers[arrays]) : nullptr;
  std::vector<Tensor> tensors(arrays_);
  std::vector<void*> values(buffers, buffers + arrays);
  for (const auto& [tensor, value] : numbers_) {
    tensors.push_back(tensor);
    values.push_back(const_cast<void*>(value.get()));
  }
  Description pack(api_, Kind::VariantPack);
  pack.set(Attribute::PackTensors, tensors)
      .set(Attribute::PackAddresses, values)
      .set(Attribute::PackWorkspace, workspace)
      .finish();
  api_.check(api_.cudnnSetStream(api_.handle, queue), "use a stream");
  api_.check(api_.cudnnBackendExecute(api_.handle, plan_->descriptor(), pack.descriptor()),
             "compute a graph of operations");
}

}  // namespace metal::cuda
