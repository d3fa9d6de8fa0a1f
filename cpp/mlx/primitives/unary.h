// Elementwise functions of one array.
#pragma once

#include "mlx/primitives/elementwise.h"

namespace mlx::core {

// Output type = input type, but for those marked.
ELEMENTWISE_PRIMITIVE(Abs)  // complex64 -> float32
ELEMENTWISE_PRIMITIVE(ArcCos)
ELEMENTWISE_PRIMITIVE(ArcCosh)
ELEMENTWISE_PRIMITIVE(ArcSin)
ELEMENTWISE_PRIMITIVE(ArcSinh)
ELEMENTWISE_PRIMITIVE(ArcTan)
ELEMENTWISE_PRIMITIVE(ArcTanh)
ELEMENTWISE_PRIMITIVE(BitwiseInvert)
ELEMENTWISE_PRIMITIVE(Ceil)
ELEMENTWISE_PRIMITIVE(Conjugate)
ELEMENTWISE_PRIMITIVE(Cos)
ELEMENTWISE_PRIMITIVE(Cosh)
ELEMENTWISE_PRIMITIVE(Erf)
ELEMENTWISE_PRIMITIVE(ErfInv)
ELEMENTWISE_PRIMITIVE(Exp)
ELEMENTWISE_PRIMITIVE(Expm1)
ELEMENTWISE_PRIMITIVE(Floor)
ELEMENTWISE_PRIMITIVE(Imag)  // complex64 -> float32
ELEMENTWISE_PRIMITIVE(Log1p)
ELEMENTWISE_PRIMITIVE(LogicalNot)  // bool -> bool
ELEMENTWISE_PRIMITIVE(Negative)
ELEMENTWISE_PRIMITIVE(Real)   // complex64 -> float32
ELEMENTWISE_PRIMITIVE(Round)  // half to even
ELEMENTWISE_PRIMITIVE(Sigmoid)
ELEMENTWISE_PRIMITIVE(Sign)
ELEMENTWISE_PRIMITIVE(Sin)
ELEMENTWISE_PRIMITIVE(Sinh)
ELEMENTWISE_PRIMITIVE(Square)
ELEMENTWISE_PRIMITIVE(Tan)
ELEMENTWISE_PRIMITIVE(Tanh)

class Log : public Elementwise {
 public:
  enum Base { two, ten, e };
  explicit Log(Stream stream, Base base) : Elementwise(stream), base_(base) {}
  DEFINE_ELEMENTWISE(Log)
  DEFINE_STATE(Log, base_)

 private:
  Base base_;
};

class Sqrt : public Elementwise {
 public:
  // `recip`: 1 / sqrt(x)
  explicit Sqrt(Stream stream, bool recip = false) : Elementwise(stream), recip_(recip) {}
  DEFINE_ELEMENTWISE(Sqrt)
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

// A view or donation of its input.
ELEMENTWISE_PRIMITIVE(Copy)

}  // namespace mlx::core
