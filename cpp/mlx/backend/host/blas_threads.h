// BlasOnThisThread: keeps BLAS and LAPACK from using threads of their own.
#pragma once

namespace mlx::core::cpu {

// While one exists, BLAS and LAPACK run on the calling thread. OpenBLAS's own threads wait for each
// other in busy loops, which is many times slower when the cores have other work; our threads
// balance the work better.
class BlasOnThisThread {
 public:
  BlasOnThisThread();
  ~BlasOnThisThread();
  BlasOnThisThread(const BlasOnThisThread&) = delete;
  BlasOnThisThread& operator=(const BlasOnThisThread&) = delete;
};

}  // namespace mlx::core::cpu
