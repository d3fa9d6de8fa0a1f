#include "metal/cpu/runtime/outside_kernel.h"

#include "metal/cpu/runtime/fibre_scheduler.h"
#include "metal/cpu/runtime/worker.h"

namespace metal::cpu {

OutsideKernel::OutsideKernel(const Group* group) : worker_(scheduler_of(group).worker()) {
  worker_.leave_kernel();
}

OutsideKernel::~OutsideKernel() { worker_.enter_kernel(); }

}  // namespace metal::cpu
