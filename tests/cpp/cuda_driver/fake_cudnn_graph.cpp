// A fake of the part of NVIDIA's cuDNN that computes graphs of operations: it computes one
// operation after the other, in memory of the fake GPU, and knows no arrays of float16.
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

#include "cuda_driver/fake_cudnn.h"

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
};

}  // namespace metal::cuda

namespace metal::test {
namespace {

using namespace metal::cuda;
using Described = const CudnnDescriptorObject&;
using Dims = std::vector<int64_t>;

// Kinds of descriptions and their attributes.
constexpr int kHeuristics = 4, kPlan = 5, kPointwiseOperation = 13, kTensor = 17,
              kMatmulOperation = 19, kReductionOperation = 22;
constexpr int kHeuristicsGraph = 201, kHeuristicsResults = 202, kPlanEngine = 401,
              kPlanWorkspace = 402, kGraphOperations = 801, kTensorType = 901, kTensorDims = 902,
              kTensorStrides = 903, kTensorNumber = 906, kPackTensors = 1000, kPackAddresses = 1001,
              kPackWorkspace = 1003;
constexpr int kEngineGraph = -1;  // of the fake's own: the graph of an engine
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
    auto* memory = static_cast<uint16_t*>(address->second);
    for_each(made.dims, [&](const Dims& at) {
      const auto bits = std::bit_cast<uint32_t>(static_cast<float>(made.at(at)));
      memory[offset(tensor, at)] = static_cast<uint16_t>((bits + 0x8000) >> 16);
    });
  }

  void compute(Described operation) {
    switch (operation.kind) {
      case kMatmulOperation:
        return multiply(described(operation, 1520), described(operation, 1521),
                        described(operation, 1522));
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

}  // namespace

extern "C" {

size_t cudnnGetVersion() { return 91900; }

CudnnStatus cudnnBackendCreateDescriptor(int kind, CudnnDescriptor* made) {
  *made = new CudnnDescriptorObject{kind, false, {}};
  ++fake_cudnn().descriptions;
  return CudnnStatus::Success;
}

CudnnStatus cudnnBackendDestroyDescriptor(CudnnDescriptor made) {
  delete made;
  --fake_cudnn().descriptions;
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
  if (made->kind == kTensor && made->value<CudnnType>(kTensorType) == CudnnType::Float16)
    return kNotSupported;
  made->finished = true;
  return CudnnStatus::Success;
}

CudnnStatus cudnnBackendGetAttribute(CudnnDescriptor from, int attribute, int, int64_t,
                                     int64_t* count, void* values) {
  *count = 1;
  if (attribute == kPlanWorkspace) std::memcpy(values, &kWorkspaceBytes, sizeof(kWorkspaceBytes));
  if (attribute == kHeuristicsResults) {
    CudnnDescriptor engine = *static_cast<CudnnDescriptor*>(values);
    engine->attributes[kEngineGraph] = from->attributes.at(kHeuristicsGraph);
  }
  return CudnnStatus::Success;
}

CudnnStatus cudnnBackendExecute(CudnnHandle, CudnnDescriptor plan, CudnnDescriptor pack) {
  fake_cudnn().workspace = pack->value<void*>(kPackWorkspace);
  if (fake_cudnn().result != CudnnStatus::Success) return fake_cudnn().result;
  Run(described(described(*plan, kPlanEngine), kEngineGraph), *pack);
  return CudnnStatus::Success;
}

}  // extern "C"
}  // namespace metal::test
