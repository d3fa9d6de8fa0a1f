// The threads of BLAS and LAPACK.
#pragma once

namespace mlx::core::cpu {

// While one exists, calls of BLAS and LAPACK stay on the thread that calls: OpenBLAS's own threads
// wait for one another in loops, which takes many times as long where cores are busy with other
// work, and ours share the work better.
class BlasOnThisThread {
 public:
  BlasOnThisThread();
  ~BlasOnThisThread();
  BlasOnThisThread(const BlasOnThisThread&) = delete;
  BlasOnThisThread& operator=(const BlasOnThisThread&) = delete;
};

}  // namespace mlx::core::cpu
