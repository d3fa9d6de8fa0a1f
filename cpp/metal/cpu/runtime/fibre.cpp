// Stacks that kernels run on, and switching between them with Boost.Context's fcontext.
#include "metal/cpu/runtime/fibre.h"

#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <new>

#include "metal/sanitizers.h"
#include "metal/signals.h"

namespace metal::cpu {
namespace {

namespace fcontext = boost::context::detail;

constexpr size_t kGuard = 65536;

#ifdef METAL_TSAN
constexpr unsigned kNoSync = 0;

// ThreadSanitizer must not be interrupted while it switches threads.
void block_stop_signal(bool block) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, kStopSignal);
  pthread_sigmask(block ? SIG_BLOCK : SIG_UNBLOCK, &set, nullptr);
}
#endif

// `keep`: where AddressSanitizer stores the state of the running stack; null if the stack is
// abandoned.
void before_switch([[maybe_unused]] void** keep, [[maybe_unused]] Context* from,
                   [[maybe_unused]] Context* to) {
#ifdef METAL_ASAN
  __sanitizer_start_switch_fiber(keep, to->stack, to->stack_size);
#endif
#ifdef METAL_TSAN
  block_stop_signal(true);
  if (!from->thread_state) from->thread_state = __tsan_get_current_fiber();
  if (!to->thread_state) to->thread_state = __tsan_create_fiber(0);
  __tsan_switch_to_fiber(to->thread_state, kNoSync);
#endif
}

void after_switch([[maybe_unused]] void* kept, fcontext::transfer_t transfer) {
  auto* previous = static_cast<Context*>(transfer.data);
  previous->handle = transfer.fctx;
#ifdef METAL_ASAN
  __sanitizer_finish_switch_fiber(kept, &previous->stack, &previous->stack_size);
#endif
#ifdef METAL_TSAN
  block_stop_signal(false);
#endif
}

}  // namespace

struct FibreEntry {
  static void start(fcontext::transfer_t transfer) {
    // The first member of a fibre is its context.
    auto* self = reinterpret_cast<Fibre*>(static_cast<Context*>(transfer.data)->target);
    after_switch(nullptr, transfer);
    self->body_(self);
  }
};

void switch_context(Context* from, Context* to) {
  from->target = to;
  before_switch(&from->fake_stack, from, to);
  fcontext::transfer_t transfer = fcontext::jump_fcontext(to->handle, from);
  after_switch(from->fake_stack, transfer);
}

void abandon_context(Context* from, Context* to) {
  from->target = to;
  before_switch(nullptr, from, to);
#ifdef METAL_TSAN
  // A signal may have interrupted ThreadSanitizer itself: destroying such a thread would be an
  // error.
  from->thread_state = nullptr;
#endif
  fcontext::jump_fcontext(to->handle, from);
  __builtin_unreachable();
}

Fibre::Fibre(size_t stack_size, unsigned colour, Body body, void* owner)
    : body_(body), owner_(owner) {
  mapped_ = kGuard + stack_size;
  void* memory = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<char*>(memory);
  if (mprotect(memory_, kGuard, PROT_NONE) != 0) {  // fails if the process has too many mappings
    munmap(memory_, mapped_);
    throw std::bad_alloc();
  }
  constexpr size_t kLine = 64, kLinesPerPage = 64, kStep = 5;
  top_ = memory_ + mapped_ - (colour * kStep % kLinesPerPage) * kLine;
  reset();
}

Fibre::~Fibre() {
#ifdef METAL_TSAN
  if (context_.thread_state) __tsan_destroy_fiber(context_.thread_state);
#endif
  unpoison_stack(memory_, mapped_);
  munmap(memory_, mapped_);
}

bool Fibre::in_guard(const void* address) const {
  auto offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(memory_);
  return offset < kGuard;
}

void Fibre::reset() {
  size_t usable = static_cast<size_t>(top_ - memory_) - kGuard;
  unpoison_stack(memory_ + kGuard, usable);
#ifdef METAL_TSAN
  if (context_.thread_state) __tsan_destroy_fiber(context_.thread_state);
#endif
  context_ = Context{};
  context_.stack = memory_ + kGuard;
  context_.stack_size = usable;
  context_.handle = fcontext::make_fcontext(top_, usable, &FibreEntry::start);
}

Fibre* FibrePool::acquire() {
  if (idle_.empty()) {
    auto colour = static_cast<unsigned>(fibres_.size());
    try {
      fibres_.push_back(std::make_unique<Fibre>(stack_size_, colour, body_, owner_));
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    return fibres_.back().get();
  }
  Fibre* fibre = idle_.back();
  idle_.pop_back();
  return fibre;
}

void FibrePool::reset_all() {
  idle_.clear();
  for (auto& fibre : fibres_) {
    fibre->reset();
    idle_.push_back(fibre.get());
  }
}

}  // namespace metal::cpu
