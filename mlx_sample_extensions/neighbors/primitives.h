// The primitive of neighbour searches.
#pragma once

#include "mlx/primitives.h"
#include "rules.h"

namespace mlx_sample {

namespace mx = mlx::core;

// (points (N, D), queries (Q, D), offsets (B + 1,), query_offsets (B + 1,)) -> (indices (Q, k),
// distances (Q, k), counts (Q,)). Distances have derivatives.
class Neighbors : public mx::Primitive {
 public:
  // `radius` is infinite for searches of the nearest points.
  Neighbors(mx::Stream stream, int k, float radius)
      : mx::Primitive(stream), k_(k), radius_(radius) {}

  void eval_cpu(const Arrays& inputs, Arrays& outputs) override;
  void eval_gpu(const Arrays& inputs, Arrays& outputs) override;
  bool encodes() const override { return true; }
  Arrays jvp(const Arrays& primals, const Arrays& tangents,
             const std::vector<int>& argnums) override;
  Arrays vjp(const Arrays& primals, const Arrays& cotangents, const std::vector<int>& argnums,
             const Arrays& outputs) override;
  std::pair<Arrays, std::vector<int>> vmap(const Arrays& inputs,
                                           const std::vector<int>& axes) override;
  const char* name() const override { return "Neighbors"; }
  bool is_equivalent(const mx::Primitive& other) const override {
    auto& o = static_cast<const Neighbors&>(other);
    return k_ == o.k_ && radius_ == o.radius_;
  }
  std::vector<mx::Shape> output_shapes(const Arrays& inputs) override {
    int queries = inputs[1].shape(0);
    return {{queries, k_}, {queries, k_}, {queries}};
  }

 private:
  int k_;
  float radius_;
};

Arrays find_neighbors(const mx::array& points, const mx::array& queries, const mx::array& offsets,
                      const mx::array& query_offsets, int k, float radius, mx::Stream s);

}  // namespace mlx_sample
