// Handlers for the signals that kernel code raises, and for the one that stops it.
#include "metal/cpu/runtime/faults.h"

#include <signal.h>
#include <ucontext.h>

#include <cstdint>

#include "metal/cpu/runtime/dispatch.h"
#include "metal/cpu/runtime/worker.h"
#include "metal/sanitizers.h"
#include "metal/signals.h"

namespace metal::cpu {
namespace {

// Makes the interrupted thread continue in Worker::leave(worker), on an empty stack, when the
// signal handler returns.
void continue_in_leave(ucontext_t* context, Worker* worker) {
  auto top = reinterpret_cast<uintptr_t>(worker->fibre()->stack_top()) & ~uintptr_t{15};
  auto code = reinterpret_cast<uintptr_t>(&Worker::leave);
#if defined(__x86_64__)
  auto* registers = context->uc_mcontext.gregs;
  constexpr greg_t kDirectionFlag = 0x400, kDefaultMxcsr = 0x1f80;
  registers[REG_RSP] = static_cast<greg_t>(top - 8);  // the alignment after a call
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

#if defined(__aarch64__)
// What a load or store of the general or vector registers does, by its encoding.
Fault::Access access_of_instruction(uint32_t code) {
  constexpr uint32_t kVector = 1u << 26, kLoad = 1u << 22;
  if ((code & 0x0a000000) != 0x08000000) return Fault::Unknown;  // neither
  if ((code & 0x3b000000) == 0x18000000) return Fault::Read;     // of a constant near the code
  const bool atomic = (code & 0x3b200c00) == 0x38200000 || (code & 0x3fa07c00) == 0x08a07c00;
  if (atomic) return Fault::Unknown;
  const bool single = (code & 0x3a000000) == 0x38000000 || (code & 0x3b200000) == 0x19000000;
  if (!single) return code & kLoad ? Fault::Read : Fault::Write;
  const uint32_t operation = code >> 22 & 3;  // 2 is a wide store or a load that extends the sign
  return operation == 0 || (operation == 2 && code & kVector) ? Fault::Write : Fault::Read;
}
#endif

// Whether the access that failed was a read or a write, as the processor reports it.
Fault::Access access_of(const ucontext_t* context) {
#if defined(__x86_64__)
  constexpr greg_t kPageFault = 14, kWrite = 2, kFetch = 16;
  const auto* registers = context->uc_mcontext.gregs;
  if (registers[REG_TRAPNO] != kPageFault || registers[REG_ERR] & kFetch) return Fault::Unknown;
  return registers[REG_ERR] & kWrite ? Fault::Write : Fault::Read;
#else
  constexpr uint64_t kDataAbort = 0x24, kWrite = uint64_t{1} << 6;
  const auto& records = context->uc_mcontext.__reserved;
  for (size_t at = 0; at + sizeof(esr_context) <= sizeof(records);) {
    const auto* record = reinterpret_cast<const _aarch64_ctx*>(records + at);
    if (record->magic == ESR_MAGIC) {
      const uint64_t syndrome = reinterpret_cast<const esr_context*>(record)->esr;
      if ((syndrome >> 26 & 0x3f) != kDataAbort) return Fault::Unknown;
      return syndrome & kWrite ? Fault::Write : Fault::Read;
    }
    if (record->size == 0) break;
    at += record->size;
  }
  // Emulators do not report it. What cannot be read cannot be the instruction.
  const auto& machine = context->uc_mcontext;
  const auto from = static_cast<uintptr_t>(machine.pc);
  return machine.fault_address == from
             ? Fault::Unknown
             : access_of_instruction(*reinterpret_cast<const uint32_t*>(from));
#endif
}

void leave_kernel(Worker* worker, const Fault& fault, void* context) {
  worker->prepare_leave(fault);
  Context* abandoned = worker->fibre()->context();
  unpoison_stack(abandoned->stack, abandoned->stack_size);
  continue_in_leave(static_cast<ucontext_t*>(context), worker);
}

bool on_fault(int signal, siginfo_t* info, void* context) {
  Worker* worker = Worker::current_or_null();
  bool sent = info->si_code == SI_USER || info->si_code == SI_QUEUE;
  if (!worker || !worker->in_kernel() || sent) return false;
  const Context& ran_on = *worker->fibre()->context();
  Fault fault{.kind = Fault::Signal,
              .signal = signal,
              .code = info->si_code,
              .address = info->si_addr,
              .access = access_of(static_cast<const ucontext_t*>(context)),
              .stack = ran_on.stack,
              .stack_size = ran_on.stack_size};
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

}  // namespace

void install_fault_handlers() {
  [[maybe_unused]] static const bool installed = [] {
    add_signal_handler({SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}, on_fault);
    add_signal_handler({kStopSignal}, on_stop);
    return true;
  }();
}

}  // namespace metal::cpu
