#include "metal/cpu/outside_kernel.h"

#include "metal/cpu/unit_scheduler.h"
#include "metal/cpu/worker.h"

namespace metal::cpu {

OutsideKernel::OutsideKernel(const Group* group) : worker_(scheduler_of(group).worker()) {
  worker_.leave_kernel();
}

OutsideKernel::~OutsideKernel() { worker_.enter_kernel(); }

}  // namespace metal::cpu
