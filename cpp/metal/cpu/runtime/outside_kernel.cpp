#include "metal/cpu/runtime/outside_kernel.h"

#include "metal/cpu/runtime/fibre_scheduler.h"
#include "metal/cpu/runtime/worker.h"

namespace metal::cpu {

OutsideKernel::OutsideKernel(const Group* group) : OutsideKernel(scheduler_of(group).worker()) {}

OutsideKernel::OutsideKernel(Worker& worker) : worker_(worker) { worker_.leave_kernel(); }

OutsideKernel::~OutsideKernel() { worker_.enter_kernel(); }

}  // namespace metal::cpu
