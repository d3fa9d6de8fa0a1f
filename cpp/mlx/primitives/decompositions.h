// Decompositions, determinants and linear systems: matrices (..., M, N) in the last two axes, of
// float32, float64 or complex64.
#pragma once

#include <string>

#include "mlx/primitives/primitive.h"

namespace mlx::core {

// The known structure of a matrix.
enum class MatrixForm { General, Lower, Upper };

// inputs: a (..., N, N), b (..., N, K) with equal batch axes. Output: x with a @ x = b. The other
// triangle of a triangular matrix is not read.
class Solve : public UnaryPrimitive {
 public:
  explicit Solve(Stream stream, MatrixForm form, const char* op)
      : UnaryPrimitive(stream), form_(form), op_(op) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(Solve)
  DEFINE_STATE(Solve, form_, std::string(op_))
  DEFINE_OUTPUT_SHAPES()

 private:
  MatrixForm form_;
  const char* op_;  // the name in errors
};

// input: a Hermitian, positive definite matrix. Output: L with a = L @ L^H, or L^H if upper.
class Cholesky : public UnaryPrimitive {
 public:
  explicit Cholesky(Stream stream, bool upper) : UnaryPrimitive(stream), upper_(upper) {}
  DEFINE_EVAL()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(Cholesky)
  DEFINE_STATE(Cholesky, upper_)
  DEFINE_INPUT_OUTPUT_SHAPE()

 private:
  bool upper_;
};

// Outputs: Q (..., M, K) and R (..., K, N), K = min(M, N).
class QRF : public Primitive {
 public:
  explicit QRF(Stream stream) : Primitive(stream) {}
  DEFINE_EVAL_MULTI()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(QRF)
  DEFINE_DEFAULT_IS_EQUIVALENT()
  DEFINE_OUTPUT_SHAPES()
};

// Outputs: L (below the diagonal, which is ones) and U in one matrix (..., M, N); for each of the
// first K = min(M, N) rows the row that it was exchanged with, uint32 (..., K); for each row of the
// input the row of L @ U that it is, uint32 (..., M).
class LUF : public Primitive {
 public:
  explicit LUF(Stream stream) : Primitive(stream) {}
  DEFINE_EVAL_MULTI()
  DEFINE_VMAP()
  DEFINE_NAME(LUF)
  DEFINE_DEFAULT_IS_EQUIVALENT()
  DEFINE_OUTPUT_SHAPES()
};

// Outputs: the determinant; or its sign and the logarithm of its absolute value.
class Determinant : public Primitive {
 public:
  explicit Determinant(Stream stream, bool logarithm) : Primitive(stream), logarithm_(logarithm) {}
  DEFINE_EVAL_MULTI()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(Determinant)
  DEFINE_STATE(Determinant, logarithm_)
  DEFINE_OUTPUT_SHAPES()

 private:
  bool logarithm_;
};

// input: a Hermitian matrix, of which one triangle is read. Outputs: its eigenvalues, ascending,
// (..., N) and real, and, if `vectors`, the eigenvectors in the columns of (..., N, N).
class Eigh : public Primitive {
 public:
  explicit Eigh(Stream stream, bool upper, bool vectors)
      : Primitive(stream), upper_(upper), vectors_(vectors) {}
  DEFINE_EVAL_MULTI()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(Eigh)
  DEFINE_STATE(Eigh, upper_, vectors_)
  DEFINE_OUTPUT_SHAPES()

 private:
  bool upper_;
  bool vectors_;
};

// Outputs: the eigenvalues (..., N) and, if `vectors`, the eigenvectors in the columns of (..., N,
// N), complex64.
class Eig : public Primitive {
 public:
  explicit Eig(Stream stream, bool vectors) : Primitive(stream), vectors_(vectors) {}
  DEFINE_EVAL_MULTI()
  DEFINE_VMAP()
  DEFINE_NAME(Eig)
  DEFINE_STATE(Eig, vectors_)
  DEFINE_OUTPUT_SHAPES()

 private:
  bool vectors_;
};

// Outputs: U (..., M, M), S (..., min(M, N)) and real, Vt (..., N, N); only S unless compute_uv.
class SVD : public Primitive {
 public:
  explicit SVD(Stream stream, bool compute_uv) : Primitive(stream), compute_uv_(compute_uv) {}
  DEFINE_EVAL_MULTI()
  DEFINE_GRADS()
  DEFINE_VMAP()
  DEFINE_NAME(SVD)
  DEFINE_STATE(SVD, compute_uv_)
  DEFINE_OUTPUT_SHAPES()

 private:
  bool compute_uv_;
};

}  // namespace mlx::core
