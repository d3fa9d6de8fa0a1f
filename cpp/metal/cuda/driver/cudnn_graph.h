// Graphs of operations that cuDNN computes together: what it calls its backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "metal/convolution.h"
#include "metal/cuda/driver/cudnn.h"

namespace metal::cuda {

// These are numbers of the library's binary interface.
enum class CudnnPointwise : int {
  Add = 0,
  Multiply = 1,
  Divide = 6,
  Subtract = 9,
  Exp = 13,
  Log = 15,
  GreaterEqual = 303,
  Index = 501,   // of an element along an axis
  Select = 601,  // the first operand where the third is true, else the second
};
enum class CudnnReduction : int { Add = 0, Max = 3 };

enum class CudnnHeuristics : int { Slow = 2, ByShapes = 3 };  // which engines are offered

// What the library says of an engine, which is one of its ways to compute a graph.
enum class CudnnNote : int {
  MatrixInstructions = 0,  // for float32: as TF32
  RoundsInputs = 1,
  RoundsSums = 2,  // adds up numbers of less precision than float32
  OrderOfSumsVaries = 4,
};
enum class CudnnBehavior : int { CompilesAtRunTime = 0 };

// Which engines a graph may not use.
struct CudnnRefused {
  std::vector<CudnnNote> notes;
  std::vector<CudnnBehavior> behaviors;
};

CudnnType type_in_cudnn(MatrixType type);

// Operations are added in their order, then plan() chooses how to compute them, and run() does so
// any number of times. The caller holds the API's mutex until the graph is planned. Throws
// std::runtime_error where the library refuses.
class CudnnGraph {
 public:
  using Tensor = int64_t;  // the number of a tensor, from 1
  using Dims = std::vector<int64_t>;

  explicit CudnnGraph(const CudnnApi& api) : api_(api) {}

  // An array in memory, whose address run() gets.
  Tensor array(CudnnType type, const Dims& dims, const Dims& strides);
  // The result of an operation that only other operations need.
  Tensor intermediate(CudnnType type, const Dims& dims);
  Tensor number(float value);
  Tensor number(int32_t value);

  void multiply_matrices(Tensor a, Tensor b, Tensor result);
  // The dims of the arrays are (images or channels of the output, channels, extents...).
  struct Arrays {
    Tensor input, weight, output;
  };
  struct Window {
    Dims padding, stride, dilation;  // along each axis; padding is at both ends
  };
  void convolve(ConvolutionResult result, const Arrays& arrays, const Window& window);
  void reduce(CudnnReduction reduction, Tensor operand, Tensor result);
  // `type`: what the function computes with. `axis`: of Index.
  void apply(CudnnPointwise function, std::initializer_list<Tensor> operands, Tensor result,
             CudnnType type = CudnnType::Float32, int64_t axis = -1);

  // Takes the engine that the library expects to be the fastest of those that are not refused.
  void plan(const CudnnRefused& refused = {});
  // With room to align it.
  size_t workspace_bytes() const;
  // `buffers`: the arrays, in the order of their numbers, and workspace of that size.
  void run(void* queue, void* const* buffers) const;

 private:
  // Something that the library was told about.
  class Description;
  using Owned = std::shared_ptr<Description>;
  enum class Place { Memory, Nowhere, Argument };

  Tensor describe(CudnnType type, const Dims& dims, const Dims& strides, Place place);
  Tensor add_number(CudnnType type, std::shared_ptr<const void> value);
  Description& description(Tensor tensor) const;
  // Finishes the operation, which uses the function.
  void add_operation(Owned function, Owned operation);
  // The engines for a graph, in the order in which the library would choose them.
  std::vector<Owned> engines(const Description& graph, CudnnHeuristics heuristics) const;
  // Returns false if the engine is refused or cannot be used here.
  bool plan_with(const Owned& engine, const CudnnRefused& refused);

  const CudnnApi& api_;
  std::vector<Owned> tensors_, operations_, others_;
  std::vector<Tensor> arrays_;
  std::vector<std::pair<Tensor, std::shared_ptr<const void>>> numbers_;
  Owned plan_;
  size_t workspace_bytes_ = 0;  // of the library
};

}  // namespace metal::cuda
