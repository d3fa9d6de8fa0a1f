// Counts the users of single-threaded BLAS; the last one restores the number of threads.
#include "mlx/backend/host/blas_threads.h"

#include <mutex>

#include "mlx/backend/host/openblas.h"

namespace mlx::core::cpu {

namespace {

struct Users {
  std::mutex mutex;
  int count = 0;
  int threads_before = 1;
};

Users& users() {
  static auto& instance = *new Users;
  return instance;
}

bool has_threads() { return openblas_get_num_threads && openblas_set_num_threads; }

}  // namespace

BlasOnThisThread::BlasOnThisThread() {
  if (!has_threads()) return;
  auto& u = users();
  std::lock_guard lock(u.mutex);
  if (u.count++ > 0) return;
  u.threads_before = openblas_get_num_threads();
  if (u.threads_before != 1) openblas_set_num_threads(1);
}

BlasOnThisThread::~BlasOnThisThread() {
  if (!has_threads()) return;
  auto& u = users();
  std::lock_guard lock(u.mutex);
  if (--u.count == 0 && u.threads_before != 1) openblas_set_num_threads(u.threads_before);
}

}  // namespace mlx::core::cpu
