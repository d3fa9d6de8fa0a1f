// Stacks that kernels run on, and switching between them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace metal::cpu {

// A suspended flow of control: a thread's own stack, or a fibre's.
struct Context {
  void* handle = nullptr;       // where it continues
  Context* target = nullptr;    // the context that it last switched to
  const void* stack = nullptr;  // lowest address
  size_t stack_size = 0;
  void* fake_stack = nullptr;    // AddressSanitizer's
  void* thread_state = nullptr;  // ThreadSanitizer's
};

// Suspends `from`, which is running, until something switches back to it.
void switch_context(Context* from, Context* to);

// Abandons the running context: its stack frames are dropped.
[[noreturn]] void abandon_context(Context* from, Context* to);

class Fibre {
 public:
  // `body` gets the fibre itself and never returns.
  using Body = void (*)(Fibre* self);

  // `colour` shifts the start of the stack, so that the hot frames of many fibres use different
  // cache lines. Throws std::bad_alloc if the system has no memory for the stack, or no mapping for
  // its guard page.
  Fibre(size_t stack_size, unsigned colour, Body body, void* owner);
  ~Fibre();
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  Context* context() { return &context_; }
  void* owner() const { return owner_; }
  void* stack_top() const { return top_; }
  bool in_guard(const void* address) const;
  void reset();  // drops its stack frames; the next switch to it calls `body` again

 private:
  friend struct FibreEntry;

  Context context_;
  Body body_;
  void* owner_;
  char* memory_ = nullptr;  // the guard page, then the stack
  size_t mapped_ = 0;
  char* top_ = nullptr;
};

// Fibres with stacks of one size. The last one that was given back is reused first.
class FibrePool {
 public:
  FibrePool(size_t stack_size, Fibre::Body body, void* owner)
      : stack_size_(stack_size), body_(body), owner_(owner) {}

  // Null if the system has no room for another one. It does not throw, as kernels call it.
  Fibre* acquire();
  void release(Fibre* fibre) { idle_.push_back(fibre); }
  void reset_all();  // after a fault: every fibre is idle again

 private:
  size_t stack_size_;
  Fibre::Body body_;
  void* owner_;
  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::vector<Fibre*> idle_;
};

}  // namespace metal::cpu
