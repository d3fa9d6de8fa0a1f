// Launches of elementwise kernels that run together.
#pragma once

#include <list>

#include "metal/cpu/runtime/dispatch.h"
#include "metal/driver.h"

namespace metal::cpu {

struct CpuKernel;

// Each core runs all launches of the chain on some elements before it takes the next ones, so that
// what one launch writes is still in its cache when the next one reads it.
class LaunchChain {
 public:
  // False if the launch cannot run together with those that are in the chain. The kernel must live
  // until run().
  bool add(const Kernel& kernel, const CpuKernel& code, const LaunchParameters& parameters);

  // Returns when all launches have run; the chain is empty then. Throws what Dispatch::run throws,
  // for the first launch that failed.
  void run();

 private:
  struct Link {
    Link(const Kernel& kernel, const CpuKernel& code, const LaunchParameters& p)
        : code(code), parameters(p), dispatch(kernel, code, parameters) {}
    const CpuKernel& code;
    LaunchParameters parameters;
    Dispatch dispatch;
  };

  std::list<Link> links_;
};

}  // namespace metal::cpu
