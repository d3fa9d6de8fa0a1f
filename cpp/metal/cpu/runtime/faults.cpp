// Signals that kernel code raises, and the one that stops it.
#include "metal/cpu/runtime/faults.h"

#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <mutex>

#include "metal/cpu/runtime/dispatch.h"
#include "metal/signals.h"

namespace metal::cpu {
namespace {

// Lets the interrupted thread go on in Worker::leave(worker) on an empty stack when the handler
// returns.
void go_on_in_leave(ucontext_t* context, Worker* worker) {
  auto top = reinterpret_cast<uintptr_t>(worker->fibre()->stack_top()) & ~uintptr_t{15};
  auto code = reinterpret_cast<uintptr_t>(&Worker::leave);
#if defined(__x86_64__)
  auto* registers = context->uc_mcontext.gregs;
  constexpr greg_t kDirectionFlag = 0x400, kDefaultMxcsr = 0x1f80;
  registers[REG_RSP] = static_cast<greg_t>(top - 8);  // as after a call
  registers[REG_RIP] = static_cast<greg_t>(code);
  registers[REG_RDI] = reinterpret_cast<greg_t>(worker);
  registers[REG_EFL] &= ~kDirectionFlag;
  if (context->uc_mcontext.fpregs) context->uc_mcontext.fpregs->mxcsr = kDefaultMxcsr;
#elif defined(__aarch64__)
  context->uc_mcontext.sp = top;
  context->uc_mcontext.pc = code;
  context->uc_mcontext.regs[0] = reinterpret_cast<uintptr_t>(worker);
#else
#error "How to leave a kernel from a signal handler is not known for this processor"
#endif
}

void leave_kernel(Worker* worker, const Fault& fault, void* context) {
  worker->prepare_leave(fault);
  Context* abandoned = worker->fibre()->context();
  unpoison_stack(abandoned->stack, abandoned->stack_size);
  go_on_in_leave(static_cast<ucontext_t*>(context), worker);
}

bool on_fault(int signal, siginfo_t* info, void* context) {
  Worker* worker = Worker::current_or_null();
  bool sent = info->si_code == SI_USER || info->si_code == SI_QUEUE;
  if (!worker || !worker->in_kernel() || sent) return false;
  Fault fault{Fault::Signal, signal, info->si_code, info->si_addr};
  if (signal == SIGSEGV && worker->fibre()->in_guard(info->si_addr)) {
    fault.kind = Fault::StackOverflow;
  }
  leave_kernel(worker, fault, context);
  return true;
}

bool on_stop(int, siginfo_t*, void* context) {
  Worker* worker = Worker::current_or_null();
  if (worker && worker->in_kernel() && worker->dispatch()->stopped())
    leave_kernel(worker, {.kind = Fault::Stopped}, context);
  return true;
}

std::string hexadecimal(const void* address) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx",
                static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(address)));
  return text;
}

}  // namespace

void install_fault_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    add_signal_handler({SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}, on_fault);
    add_signal_handler({kStopSignal}, on_stop);
  });
}

LaunchFault launch_fault(const Fault& fault) {
  if (fault.kind == Fault::StackOverflow) return LaunchFault::StackOverflow;
  bool access = fault.signal == SIGSEGV || fault.signal == SIGBUS;
  return access ? LaunchFault::BadAccess : LaunchFault::Trap;
}

std::string describe(const Fault& fault) {
  if (fault.kind == Fault::StackOverflow) {
    return "stack overflow (the variables of its threads need too much memory)";
  }
  switch (fault.signal) {
    case SIGSEGV:
    case SIGBUS:
      // Addresses that the processor cannot form are reported without their value.
      if (fault.code == SI_KERNEL) return "invalid memory access at an impossible address";
      return "invalid memory access at address " + hexadecimal(fault.address);
    case SIGFPE:
      return "arithmetic trap (division by zero or overflow)";
    case SIGILL:
      return "illegal instruction or trap";
    default:
      return "trap";
  }
}

}  // namespace metal::cpu
