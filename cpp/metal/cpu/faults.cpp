// Signals that kernel code and the compiler raise, and the one that stops kernels.
#include "metal/cpu/faults.h"

#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <mutex>

#include "metal/compiler/guarded_thread.h"
#include "metal/cpu/dispatch.h"

namespace metal::cpu {
namespace {

constexpr int kFaultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
struct sigaction previous_actions[NSIG];

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

void unpoison_stack([[maybe_unused]] Fibre* fibre) {
#ifdef METAL_ASAN
  Context* context = fibre->context();
  __asan_unpoison_memory_region(context->stack, context->stack_size);
#endif
}

void leave_kernel(Worker* worker, const Fault& fault, void* context) {
  worker->prepare_leave(fault);
  unpoison_stack(worker->fibre());
  go_on_in_leave(static_cast<ucontext_t*>(context), worker);
}

// As if we had never been there. A default action happens when the instruction runs again.
void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& previous = previous_actions[signal];
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
    // A fault cannot be ignored: returning would only raise it again.
    sigaction(signal, &previous, nullptr);
    if (info->si_code <= 0) raise(signal);  // sent by a process: nothing runs again
  } else {
    previous.sa_handler(signal);
  }
}

void on_fault(int signal, siginfo_t* info, void* context) {
  Worker* worker = Worker::current_or_null();
  bool sent = info->si_code == SI_USER || info->si_code == SI_QUEUE;
  if (!worker || !worker->in_kernel() || sent) {
    if (!sent) compiler::abandon_after_crash();
    pass_on(signal, info, context);
    return;
  }
  Fault fault{Fault::Signal, signal, info->si_code, info->si_addr};
  if (signal == SIGSEGV && worker->fibre()->in_guard(info->si_addr)) {
    fault.kind = Fault::StackOverflow;
  }
  leave_kernel(worker, fault, context);
}

void on_abort(int signal, siginfo_t* info, void* context) {
  compiler::abandon_after_crash();
  pass_on(signal, info, context);
}

void on_stop(int, siginfo_t*, void* context) {
  Worker* worker = Worker::current_or_null();
  if (!worker || !worker->in_kernel() || !worker->dispatch()->stopped()) return;
  leave_kernel(worker, {.kind = Fault::Stopped}, context);
}

void install(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action{};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  // A stop must not get between a fault and its handler: leaving from there would keep the fault
  // blocked.
  sigaddset(&action.sa_mask, kStopSignal);
  sigaction(signal, &action, &previous_actions[signal]);
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
    for (int signal : kFaultSignals) install(signal, on_fault);
    install(SIGABRT, on_abort);
    install(kStopSignal, on_stop);
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
