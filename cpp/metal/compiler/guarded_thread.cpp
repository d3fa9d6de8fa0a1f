#include "metal/compiler/guarded_thread.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>

#include "clang/Basic/Stack.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "metal/compiler/compiler.h"
#include "metal/compiler/internal_check.h"
#include "metal/signals.h"

namespace metal::compiler {
namespace {

constexpr size_t kStackBytes = 256u << 20;
constexpr size_t kGuardBytes = 1u << 20;  // larger than any stack frame of Clang
constexpr size_t kSignalStackBytes = 64u << 10;
constexpr size_t kKeptBytes = 1u << 20;  // of an abandoned stack, with the variables of its thread

// One call of run_guarded. An abandoned one is never destroyed.
struct Work {
  explicit Work(const std::function<void()>& function) : function(function) {
    sem_init(&ended, 0, 0);
  }
  ~Work() { sem_destroy(&ended); }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  const std::function<void()>& function;
  std::exception_ptr error;
  bool abandoned = false;
  int signal = 0;              // that ended it
  const char* step = nullptr;  // the last one that has ended
  sem_t ended;                 // sem_post is the only wake-up that a signal handler may use
  void* stack = nullptr;
  size_t stack_bytes = 0;
  // The handler of a stack overflow needs another stack.
  std::unique_ptr<char[]> signal_stack{new char[kSignalStackBytes]};
};

// A signal handler reads it, so its memory must not be allocated on first use.
__attribute__((tls_model("initial-exec"))) thread_local Work* this_work = nullptr;

void find_stack(Work& work) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  pthread_attr_getstack(&attributes, &work.stack, &work.stack_bytes);
  pthread_attr_destroy(&attributes);
}

// Clang continues on a thread of its own, which is not guarded, when it has used 8 MiB of stack. It
// does not do so if it is much further from the bottom of the stack: it then assumes that it does
// not know this stack. So this moves far away from the bottom first.
[[gnu::noinline]] void run_far_from_bottom(Work& work) {
  clang::noteBottomOfStack();
  *static_cast<volatile char*>(__builtin_alloca(clang::DesiredStackSize)) = 0;
  try {
    work.function();
  } catch (...) {
    work.error = std::current_exception();
  }
}

void* run_thread(void* argument) {
  Work& work = *static_cast<Work*>(argument);
  const stack_t stack = {
      .ss_sp = work.signal_stack.get(), .ss_flags = 0, .ss_size = kSignalStackBytes};
  stack_t before;  // of a sanitizer, which expects it back
  sigaltstack(&stack, &before);
  find_stack(work);
  this_work = &work;
  run_far_from_bottom(work);
  this_work = nullptr;
  sigaltstack(&before, nullptr);
  sem_post(&work.ended);
  return nullptr;
}

pthread_t start_thread(Work& work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_attr_setguardsize(&attributes, kGuardBytes);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, run_thread, &work);
  pthread_attr_destroy(&attributes);
  if (error) throw std::system_error(error, std::generic_category(), "no thread for the compiler");
  return thread;
}

// Calls only what a signal handler may call.
[[noreturn]] void stop_forever(Work& work) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  work.abandoned = true;
  sem_post(&work.ended);
  for (;;) pause();
}

// Outside run_guarded, LLVM prints the reason and ends the process.
void on_fatal_error(void*, const char* reason, bool) {
  if (!this_work) {
    llvm::errs() << "LLVM ERROR: " << reason << "\n";
    return;
  }
  // The error comes from LLVM's verifier: see verify.h.
  if (std::string_view(reason).starts_with("Broken")) internal_error(reason);
  abandon(std::make_exception_ptr(CompileError(
      std::string("error: the kernel is too much for the compiler: ") + reason + "\n")));
}

// Called in a signal handler. Abandons the work of this thread if it is the compiler's.
bool on_crash(int signal, siginfo_t* info, void*) {
  const bool sent = info->si_code == SI_USER || info->si_code == SI_QUEUE;
  if (!this_work || (sent && signal != SIGABRT)) return false;
  this_work->signal = signal;
  // The handler runs on its own stack, so most of the memory of the abandoned stack can be given
  // back.
  if (this_work->stack_bytes > kKeptBytes)
    madvise(this_work->stack, this_work->stack_bytes - kKeptBytes, MADV_DONTNEED);
  stop_forever(*this_work);
}

std::string message_of_crash(const Work& work) {
  std::string text = "error: the compiler failed on this source (SIG";
  text += sigabbrev_np(work.signal);
  if (work.step) text += std::string(" after the step '") + work.step + "'";
  return text + ")\n";
}

void set_llvm_option(llvm::StringRef name, llvm::StringRef value) {
  llvm::cl::Option* option = llvm::cl::getRegisteredOptions().lookup(name);
  if (option) option->addOccurrence(0, option->ArgStr, value);
}

void set_llvm_options() {
  // Blocks of vector code have hundreds of loads and stores. LLVM's code generator joins the lists
  // of what it waits for without need, and takes seconds for lists of that length.
  set_llvm_option("combiner-tokenfactor-inline-limit", "64");
  // LLVM's last passes make one loop of two nested ones if all that an iteration of the outer loop
  // does first is to run the inner one. Threads that leave the inner loop early would then no
  // longer wait for the others before they call a SIMD-group function behind it.
  set_llvm_option("keep-loops", "true");
}

}  // namespace

void prepare_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    add_signal_handler({SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}, on_crash);
    set_llvm_options();
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    llvm::install_fatal_error_handler(on_fatal_error);
    llvm::install_bad_alloc_error_handler(on_fatal_error);
  });
}

void run_guarded(const std::function<void()>& function) {
  prepare_llvm();
  auto work = std::make_unique<Work>(function);
  const pthread_t thread = start_thread(*work);
  while (sem_wait(&work->ended) != 0 && errno == EINTR) continue;
  if (!work->abandoned) {
    pthread_join(thread, nullptr);
    if (work->error) std::rethrow_exception(work->error);
    return;
  }
  pthread_detach(thread);
  const Work& left = *work.release();
  if (left.error) std::rethrow_exception(left.error);
  throw CompileError(message_of_crash(left));
}

void note_step(const char* name) {
  if (this_work) this_work->step = name;
}

void abandon(std::exception_ptr error) {
  if (!this_work) std::rethrow_exception(error);
  this_work->error = std::move(error);
  stop_forever(*this_work);
}

}  // namespace metal::compiler
