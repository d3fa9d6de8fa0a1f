// A fake of NVIDIA's cuDNN: it computes one operation of a graph after the other, and knows no
// arrays of float16, nor of other than four axes.
#include "cuda_driver/fake_cudnn.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

namespace metal::cuda {

struct CudnnDescriptorObject {
  int kind;
  bool finished = false;
  std::map<int, std::vector<char>> attributes;

  template <typename T>
  std::vector<T> values(int attribute) const {
    const std::vector<char>& bytes = attributes.at(attribute);
    std::vector<T> made(bytes.size() / sizeof(T));
    std::memcpy(made.data(), bytes.data(), bytes.size());
    return made;
  }
  template <typename T>
  T value(int attribute) const {
    return values<T>(attribute).at(0);
  }
  void set(int attribute, int value) {
    const auto* bytes = reinterpret_cast<const char*>(&value);
    attributes[attribute].assign(bytes, bytes + sizeof(value));
  }
};

}  // namespace metal::cuda

namespace metal::test {
namespace {

using namespace metal::cuda;
using Described = const CudnnDescriptorObject&;
using Dims = std::vector<int64_t>;

// Kinds of descriptions and their attributes.
constexpr int kHeuristics = 4, kPlan = 5, kConvolutionOutput = 10, kConvolutionWeight = 11,
              kConvolutionInput = 12, kPointwiseOperation = 13, kTensor = 17, kMatmulOperation = 19,
              kReductionOperation = 22;
constexpr int kDilation = 102, kStride = 103, kPadding = 105, kHeuristicsMode = 200,
              kHeuristicsGraph = 201, kHeuristicsResults = 202, kConfiguredEngine = 300,
              kPlanEngine = 401, kPlanWorkspace = 402, kGraphOperations = 801, kTensorType = 901,
              kTensorDims = 902, kTensorStrides = 903, kTensorNumber = 906, kPackTensors = 1000,
              kPackAddresses = 1001, kPackWorkspace = 1003, kEngineNotes = 1303,
              kEngineBehaviors = 1305;
// The fake's own: the graph of an engine, and its place in kFakeCudnnEngines.
constexpr int kEngineGraph = -1, kEngineNumber = -2;
constexpr int64_t kWorkspaceBytes = 100;

Described described(Described owner, int attribute) {
  return *owner.value<CudnnDescriptor>(attribute);
}

// Calls visit(place in four axes) for all elements.
void for_each(const Dims& dims, const std::function<void(const Dims&)>& visit) {
  Dims at(4);
  for (at[0] = 0; at[0] < dims[0]; ++at[0])
    for (at[1] = 0; at[1] < dims[1]; ++at[1])
      for (at[2] = 0; at[2] < dims[2]; ++at[2])
        for (at[3] = 0; at[3] < dims[3]; ++at[3]) visit(at);
}

// The numbers of a tensor, row by row.
struct Numbers {
  Dims dims;
  std::vector<double> data;

  explicit Numbers(const Dims& dims)
      : dims(dims), data(size_t(dims[0] * dims[1] * dims[2] * dims[3])) {}

  // A shorter axis repeats its elements, each one so often that it fits the whole.
  double& at(const Dims& place, const Dims& whole) {
    size_t index = 0;
    for (int i = 0; i < 4; ++i)
      index = index * size_t(dims[i]) + size_t(place[i] / (whole[i] / dims[i]));
    return data[index];
  }
  double& at(const Dims& place) { return at(place, dims); }
};

class Run {
 public:
  Run(Described graph, Described pack) {
    const auto tensors = pack.values<int64_t>(kPackTensors);
    const auto addresses = pack.values<void*>(kPackAddresses);
    for (size_t i = 0; i < tensors.size(); ++i) addresses_[tensors[i]] = addresses[i];
    for (CudnnDescriptor operation : graph.values<CudnnDescriptor>(kGraphOperations))
      compute(*operation);
  }

 private:
  static size_t offset(Described tensor, const Dims& at) {
    const auto strides = tensor.values<int64_t>(kTensorStrides);
    int64_t sum = 0;
    for (int i = 0; i < 4; ++i) sum += at[i] * strides[i];
    return size_t(sum);
  }

  Numbers& numbers(Described tensor) {
    const auto number = tensor.value<int64_t>(kTensorNumber);
    const auto found = numbers_.find(number);
    if (found != numbers_.end()) return found->second;
    Numbers& made =
        numbers_.emplace(number, Numbers(tensor.values<int64_t>(kTensorDims))).first->second;
    const auto address = addresses_.find(number);
    if (address == addresses_.end()) return made;
    for_each(made.dims, [&](const Dims& at) {
      made.at(at) = element(tensor, address->second, offset(tensor, at));
    });
    return made;
  }

  static double element(Described tensor, const void* memory, size_t index) {
    switch (tensor.value<CudnnType>(kTensorType)) {
      case CudnnType::Float32:
        return static_cast<const float*>(memory)[index];
      case CudnnType::Int32:
        return static_cast<const int32_t*>(memory)[index];
      case CudnnType::Bfloat16: {
        const uint32_t bits = static_cast<const uint16_t*>(memory)[index];
        return std::bit_cast<float>(bits << 16);
      }
      default:
        throw std::runtime_error("the fake does not know this type");
    }
  }

  // Writes results that have an address.
  void finish(Described tensor) {
    const auto address = addresses_.find(tensor.value<int64_t>(kTensorNumber));
    if (address == addresses_.end()) return;
    Numbers& made = numbers(tensor);
    for_each(made.dims,
             [&](const Dims& at) { write(tensor, address->second, at, float(made.at(at))); });
  }

  static void write(Described tensor, void* memory, const Dims& at, float number) {
    const size_t index = offset(tensor, at);
    if (tensor.value<CudnnType>(kTensorType) == CudnnType::Float32) {
      static_cast<float*>(memory)[index] = number;
    } else {
      const auto bits = std::bit_cast<uint32_t>(number);
      static_cast<uint16_t*>(memory)[index] = static_cast<uint16_t>((bits + 0x8000) >> 16);
    }
  }

  void compute(Described operation) {
    switch (operation.kind) {
      case kMatmulOperation:
        return multiply(described(operation, 1520), described(operation, 1521),
                        described(operation, 1522));
      case kConvolutionOutput:
      case kConvolutionInput:
      case kConvolutionWeight:
        return convolve(operation);
      case kReductionOperation:
        return reduce(described(operation, 1612).value<int>(1600) == 3, described(operation, 1610),
                      described(operation, 1611));
      case kPointwiseOperation:
        return apply(operation);
      default:
        throw std::runtime_error("the fake does not know this operation");
    }
  }

  void multiply(Described left, Described right, Described result) {
    Numbers &a = numbers(left), &b = numbers(right), &c = numbers(result);
    const int64_t depth = a.dims[3];
    for_each(c.dims, [&](const Dims& at) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k) {
        sum += a.at({at[0], at[1], at[2], k}) *
               b.at({at[0], at[1], k, at[3]}, {c.dims[0], c.dims[1], depth, c.dims[3]});
      }
      c.at(at) = sum;
    });
    finish(result);
  }

  void convolve(Described operation) {
    const int first = operation.kind == kConvolutionOutput  ? 700
                      : operation.kind == kConvolutionInput ? 706
                                                            : 712;
    Described function = described(operation, first + 2), weight = described(operation, first + 3),
              input = described(operation, first + 4), output = described(operation, first + 5);
    Described result = operation.kind == kConvolutionOutput  ? output
                       : operation.kind == kConvolutionInput ? input
                                                             : weight;
    Numbers &w = numbers(weight), &x = numbers(input), &y = numbers(output), &to = numbers(result);
    std::fill(to.data.begin(), to.data.end(), operation.value<float>(first + 1));
    const auto padding = function.values<int64_t>(kPadding),
               stride = function.values<int64_t>(kStride),
               dilation = function.values<int64_t>(kDilation);
    const int64_t outputs_of_group = w.dims[0] / (x.dims[1] / w.dims[1]);
    for_each(y.dims, [&](const Dims& o) {
      for_each({1, w.dims[1], w.dims[2], w.dims[3]}, [&](const Dims& k) {
        const int64_t row = o[2] * stride[0] - padding[0] + k[2] * dilation[0];
        const int64_t column = o[3] * stride[1] - padding[1] + k[3] * dilation[1];
        if (row < 0 || row >= x.dims[2] || column < 0 || column >= x.dims[3]) return;
        double& of_input = x.at({o[0], o[1] / outputs_of_group * w.dims[1] + k[1], row, column});
        double& of_weight = w.at({o[1], k[1], k[2], k[3]});
        if (&to == &y) to.at(o) += of_input * of_weight;
        if (&to == &x) of_input += y.at(o) * of_weight;
        if (&to == &w) of_weight += y.at(o) * of_input;
      });
    });
    finish(result);
  }

  void reduce(bool to_most, Described operand, Described result) {
    Numbers &x = numbers(operand), &y = numbers(result);
    for_each(y.dims, [&](const Dims& at) { y.at(at) = to_most ? -INFINITY : 0; });
    for_each(x.dims, [&](const Dims& at) {
      double& whole = y.at(at, x.dims);
      whole = to_most ? std::max(whole, x.at(at)) : whole + x.at(at);
    });
    finish(result);
  }

  void apply(Described operation) {
    Described function = described(operation, 750);
    Numbers& y = numbers(described(operation, 753));
    const auto operand = [&](int attribute, const Dims& at) {
      return numbers(described(operation, attribute)).at(at, y.dims);
    };
    for_each(y.dims, [&](const Dims& at) {
      const auto first = [&] { return operand(751, at); };
      const auto second = [&] { return operand(752, at); };
      double& to = y.at(at);
      switch (function.value<int>(0)) {
        case 0:
          to = first() + second();
          break;
        case 1:
          to = first() * second();
          break;
        case 6:
          to = first() / second();
          break;
        case 9:
          to = first() - second();
          break;
        case 13:
          to = std::exp(first());
          break;
        case 15:
          to = std::log(first());
          break;
        case 303:
          to = first() >= second();
          break;
        case 501:
          to = double(at[size_t(function.value<int64_t>(9))]);
          break;
        case 601:
          to = operand(758, at) != 0 ? first() : second();
          break;
        default:
          throw std::runtime_error("the fake does not know this function");
      }
    });
    finish(described(operation, 753));
  }

  std::map<int64_t, void*> addresses_;
  std::map<int64_t, Numbers> numbers_;
};

constexpr auto kNotSupported = static_cast<CudnnStatus>(3000);

FakeCudnn state;

const FakeCudnnEngine& engine_of(Described owner) {
  return kFakeCudnnEngines[owner.value<int>(kEngineNumber)];
}

bool is_supported(Described made) {
  constexpr int kByShapes = 3;
  if (made.kind == kHeuristics)
    return state.knows_shapes || made.value<int>(kHeuristicsMode) != kByShapes;
  if (made.kind == kPlan) return engine_of(described(made, kPlanEngine)).is_usable;
  return made.kind != kTensor || (made.value<CudnnType>(kTensorType) != CudnnType::Float16 &&
                                  made.values<int64_t>(kTensorDims).size() == 4);
}

// Tells the engines for a graph, as far as there is room.
int64_t offer(Described question, int64_t room, CudnnDescriptor* engines) {
  const int64_t count = std::min<int64_t>(room, std::size(kFakeCudnnEngines));
  for (int i = 0; i < count; ++i) {
    engines[i]->attributes[kEngineGraph] = question.attributes.at(kHeuristicsGraph);
    engines[i]->set(kEngineNumber, i);
  }
  return count;
}

int64_t tell(int value, int* values) {
  *values = value;
  return value >= 0;
}

}  // namespace

extern "C" {

FakeCudnn& fake_cudnn() { return state; }

const char* cudnnGetErrorString(CudnnStatus) { return "an error of the fake"; }

CudnnStatus cudnnCreate(CudnnHandle* handle) {
  *handle = reinterpret_cast<CudnnHandle>(&state);
  return CudnnStatus::Success;
}
CudnnStatus cudnnSetStream(CudnnHandle, void*) { return CudnnStatus::Success; }

size_t cudnnGetVersion() { return 91900; }

CudnnStatus cudnnBackendCreateDescriptor(int kind, CudnnDescriptor* made) {
  *made = new CudnnDescriptorObject{kind, false, {}};
  ++state.descriptions;
  return CudnnStatus::Success;
}

CudnnStatus cudnnBackendDestroyDescriptor(CudnnDescriptor made) {
  delete made;
  --state.descriptions;
  return CudnnStatus::Success;
}

CudnnStatus cudnnBackendSetAttribute(CudnnDescriptor to, int attribute, int type, int64_t count,
                                     const void* values) {
  const size_t size = type == 2 ? 1 : type == 3 || type == 6 || type == 15 || type == 0 ? 8 : 4;
  const auto* bytes = static_cast<const char*>(values);
  to->attributes[attribute].assign(bytes, bytes + size * size_t(count));
  return CudnnStatus::Success;
}

CudnnStatus cudnnBackendFinalize(CudnnDescriptor made) {
  if (!is_supported(*made)) return kNotSupported;
  made->finished = true;
  return CudnnStatus::Success;
}

CudnnStatus cudnnBackendGetAttribute(CudnnDescriptor from, int attribute, int, int64_t room,
                                     int64_t* count, void* values) {
  switch (attribute) {
    case kPlanWorkspace:
      *count = 1;
      std::memcpy(values, &kWorkspaceBytes, sizeof(kWorkspaceBytes));
      break;
    case kHeuristicsResults:
      *count = offer(*from, room, static_cast<CudnnDescriptor*>(values));
      break;
    case kConfiguredEngine:
      *count = 1;
      (*static_cast<CudnnDescriptor*>(values))->set(kEngineNumber, from->value<int>(kEngineNumber));
      break;
    case kEngineNotes:
      *count = tell(engine_of(*from).note, static_cast<int*>(values));
      break;
    case kEngineBehaviors:
      *count = tell(engine_of(*from).behavior, static_cast<int*>(values));
      break;
    default:
      return kNotSupported;
  }
  return CudnnStatus::Success;
}

CudnnStatus cudnnBackendExecute(CudnnHandle, CudnnDescriptor plan, CudnnDescriptor pack) {
  Described engine = described(*plan, kPlanEngine);
  state.engine = engine.value<int>(kEngineNumber);
  state.workspace = pack->value<void*>(kPackWorkspace);
  if (state.result != CudnnStatus::Success) return state.result;
  Run(described(engine, kEngineGraph), *pack);
  return CudnnStatus::Success;
}

}  // extern "C"
}  // namespace metal::test
