// Stacks that kernels run on, and switching between them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace metal::cpu {

// A suspended flow of control: a thread's own stack, or a fibre's.
struct Context {
  void* handle = nullptr;       // where to go on
  Context* target = nullptr;    // whom it switched to last
  const void* stack = nullptr;  // lowest address
  size_t stack_size = 0;
  void* fake_stack = nullptr;    // AddressSanitizer's
  void* thread_state = nullptr;  // ThreadSanitizer's
};

// Suspends `from`, which is running, until something switches back to it.
void switch_context(Context* from, Context* to);

// Leaves the running context for good: its frames are dropped.
[[noreturn]] void abandon_context(Context* from, Context* to);

class Fibre {
 public:
  // `body` gets the fibre itself and never returns.
  using Body = void (*)(Fibre* self);

  // `colour` moves the start of the stack, so that hot frames of many fibres use different cache
  // lines. Throws std::bad_alloc where the system has no memory for it, or no mappings to guard it.
  Fibre(size_t stack_size, unsigned colour, Body body, void* owner);
  ~Fibre();
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  Context* context() { return &context_; }
  void* owner() const { return owner_; }
  void* stack_top() const { return top_; }
  bool in_guard(const void* address) const;
  void reset();  // drops whatever it was doing; the next switch to it starts `body` anew

 private:
  friend struct FibreEntry;

  Context context_;
  Body body_;
  void* owner_;
  char* memory_ = nullptr;  // guard, then stack
  size_t mapped_ = 0;
  char* top_ = nullptr;
};

// Fibres of one stack size, reused in last-in, first-out order.
class FibrePool {
 public:
  FibrePool(size_t stack_size, Fibre::Body body, void* owner)
      : stack_size_(stack_size), body_(body), owner_(owner) {}

  // Null if the system has no room for another one: kernels, which cannot be unwound, call it.
  Fibre* take();
  void give_back(Fibre* fibre) { idle_.push_back(fibre); }
  void reset_all();  // after a fault: every fibre is idle again

 private:
  size_t stack_size_;
  Fibre::Body body_;
  void* owner_;
  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::vector<Fibre*> idle_;
};

}  // namespace metal::cpu
