#include "metal/cuda/driver/attention.h"

#include <limits>
#include <mutex>
#include <stdexcept>
#include <tuple>

#include "metal/cuda/driver/cudnn.h"
#include "metal/cuda/driver/cudnn_graph.h"

namespace metal::cuda {
namespace {

using Tensor = CudnnGraph::Tensor;

// The library recognises attention by its operations, in the order and with the shapes that are
// used here, and computes them as one kernel.
class AttentionGraph {
 public:
  AttentionGraph(const CudnnApi& api, const Attention& attention)
      : a_(attention),
        type_(type_in_cudnn(a_.type)),
        // Earlier versions prefer the least number.
        hidden_(api.cudnnGetVersion() < 91000 ? std::numeric_limits<float>::lowest()
                                              : -std::numeric_limits<float>::infinity()),
        scores_{a_.batches, a_.heads, a_.queries, a_.keys},
        rows_{a_.batches, a_.heads, a_.queries, 1},
        graph_(api) {
    const int64_t key_heads = a_.heads / a_.sharing;
    const auto& [qs, ks, vs, os] =
        std::tie(a_.query_steps, a_.key_steps, a_.value_steps, a_.output_steps);
    const CudnnGraph::Dims queries{a_.batches, a_.heads, a_.queries, a_.depth};
    const Tensor q = graph_.array(type_, queries, {qs.batch, qs.head, qs.position, 1});
    const Tensor k = graph_.array(type_, {a_.batches, key_heads, a_.depth, a_.keys},
                                  {ks.batch, ks.head, 1, ks.position});
    const Tensor v = graph_.array(type_, {a_.batches, key_heads, a_.keys, a_.depth},
                                  {vs.batch, vs.head, vs.position, 1});
    const Tensor out = graph_.array(type_, queries, {os.batch, os.head, os.position, 1});
    Tensor scores = scores_like();
    graph_.multiply_matrices(q, k, scores);
    scores = apply(CudnnPointwise::Multiply, {scores, graph_.number(a_.scale)});
    if (a_.causal) scores = masked(scores);
    graph_.multiply_matrices(weights(scores), v, out);
    graph_.plan();
  }

  const CudnnGraph& graph() const { return graph_; }

 private:
  Tensor scores_like(CudnnType type = CudnnType::Float32) {
    return graph_.intermediate(type, scores_);
  }
  Tensor apply(CudnnPointwise function, std::initializer_list<Tensor> operands) {
    const Tensor result = scores_like();
    graph_.apply(function, operands, result);
    return result;
  }
  Tensor index(int64_t axis, Tensor scores) {
    const Tensor result = scores_like(CudnnType::Int32);
    graph_.apply(CudnnPointwise::Index, {scores}, result, CudnnType::Float32, axis);
    return result;
  }

  Tensor masked(Tensor scores) {
    Tensor query = index(2, scores);
    const Tensor key = index(3, scores);
    if (a_.keys != a_.queries) {
      const auto move = [&](CudnnPointwise function, int64_t number) {
        const Tensor moved = scores_like(CudnnType::Int32);
        graph_.apply(function, {query, graph_.number(static_cast<int32_t>(number))}, moved,
                     CudnnType::Int32);
        query = moved;
      };
      move(CudnnPointwise::Add, a_.keys);
      move(CudnnPointwise::Subtract, a_.queries);
    }
    const Tensor seen = scores_like(CudnnType::Bool);
    graph_.apply(CudnnPointwise::GreaterEqual, {query, key}, seen, CudnnType::Bool);
    return apply(CudnnPointwise::Select, {scores, graph_.number(hidden_), seen});
  }

  // The softmax of each row.
  Tensor weights(Tensor scores) {
    const Tensor most = graph_.intermediate(CudnnType::Float32, rows_);
    graph_.reduce(CudnnReduction::Max, scores, most);
    const Tensor powers =
        apply(CudnnPointwise::Exp, {apply(CudnnPointwise::Subtract, {scores, most})});
    const Tensor sum = graph_.intermediate(CudnnType::Float32, rows_);
    graph_.reduce(CudnnReduction::Add, powers, sum);
    // Nobody needs the logarithm of the sum, but some versions do not recognise attention without.
    const Tensor logarithm = graph_.intermediate(CudnnType::Float32, rows_);
    graph_.apply(CudnnPointwise::Log, {sum}, logarithm);
    graph_.apply(CudnnPointwise::Add, {most, logarithm},
                 graph_.intermediate(CudnnType::Float32, rows_));
    const Tensor result = scores_like(type_);
    graph_.apply(CudnnPointwise::Divide, {powers, sum}, result);
    return result;
  }

  const Attention a_;
  const CudnnType type_;
  const float hidden_;
  const CudnnGraph::Dims scores_, rows_;
  CudnnGraph graph_;
};

class CudnnAttentionPlan : public AttentionPlan {
 public:
  CudnnAttentionPlan(const CudnnApi& api, const Attention& attention)
      : attention_(api, attention) {}

  size_t workspace_bytes() const override { return attention_.graph().workspace_bytes(); }
  void start(void* queue, void* const* buffers) const override {
    attention_.graph().run(queue, buffers);
  }

 private:
  const AttentionGraph attention_;
};

}  // namespace

std::shared_ptr<const AttentionPlan> plan_with_cudnn(const Gpu& gpu, const Attention& attention) {
  const CudnnApi* api = cudnn_api(gpu);
  if (!api) return nullptr;
  const std::lock_guard lock(api->mutex);
  try {
    return std::make_shared<CudnnAttentionPlan>(*api, attention);
  } catch (const std::runtime_error&) {
    return nullptr;  // The library does not have a kernel for it.
  }
}

}  // namespace metal::cuda
