// Elementwise functions of one array.
#pragma once

#include "mlx/primitives/elementwise.h"

namespace mlx::core {

// Primitives without parameters.
#define MLX_UNARY(Class, ...) ELEMENTWISE_PRIMITIVE(Class)
#define MLX_UNARY_VARIANT(...)
#include "mlx/primitives/elementwise.def"

class Log : public Elementwise {
 public:
  enum Base { two, ten, e };
  explicit Log(Stream stream, Base base) : Elementwise(stream), base_(base) {}
  DEFINE_ELEMENTWISE(Log)
  const char* functor() const override;
  DEFINE_STATE(Log, base_)

 private:
  Base base_;
};

class Sqrt : public Elementwise {
 public:
  // `recip`: 1 / sqrt(x)
  explicit Sqrt(Stream stream, bool recip = false) : Elementwise(stream), recip_(recip) {}
  DEFINE_ELEMENTWISE(Sqrt)
  const char* functor() const override { return recip_ ? "Rsqrt" : "Sqrt"; }
  DEFINE_STATE(Sqrt, recip_)

 private:
  bool recip_;
};

class AsType : public Elementwise {
 public:
  explicit AsType(Stream stream, Dtype dtype) : Elementwise(stream), dtype_(dtype) {}
  DEFINE_ELEMENTWISE(AsType)
  DEFINE_STATE(AsType, dtype_.val())

 private:
  Dtype dtype_;
};

// Its output is a view of its input, or takes over its memory.
ELEMENTWISE_PRIMITIVE(Copy)

}  // namespace mlx::core
