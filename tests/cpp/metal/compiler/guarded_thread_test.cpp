// Work of the compiler that fails raises an error; the process and later work continue.
#include "metal/compiler/guarded_thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "clang/Basic/Stack.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ErrorHandling.h"
#include "metal/compiler/analyses.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/compiler.h"
#include "metal/compiler/internal_check.h"
#include "metal/compiler/ir_text.h"
#include "metal/compiler/verify.h"

namespace metal::compiler {
namespace {

template <typename Error>
std::string error_of(const std::function<void()>& work) {
  try {
    run_guarded(work);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void expect_works() {
  int result = 0;
  run_guarded([&] { result = 42; });
  EXPECT_EQ(result, 42);
}

#if defined(__clang__)
__attribute__((no_sanitize("address", "thread", "undefined"), noinline))
#else
__attribute__((no_sanitize("address", "thread", "undefined", "null"), noinline))
#endif
int recurse(volatile int* depth) {
  volatile char frame[1 << 16];
  *depth = *depth + 1;
  frame[0] = static_cast<char>(*depth);
  return *depth < 0 ? 0 : recurse(depth) + frame[0];
}

TEST(GuardedThread, ExceptionsPassThrough) {
  struct Flag {
    bool& set;
    ~Flag() { set = true; }
  };
  bool destroyed = false;
  EXPECT_EQ(error_of<std::invalid_argument>([&] {
              const Flag flag{destroyed};
              throw std::invalid_argument("a bad one");
            }),
            "a bad one");
  EXPECT_TRUE(destroyed);
}

// The waiting thread ignores signals that interrupt its system call.
TEST(GuardedThread, SignalsDoNotEndTheWait) {
  struct sigaction handler = {}, before = {};
  handler.sa_handler = [](int) {};  // without SA_RESTART
  ASSERT_EQ(sigaction(SIGUSR1, &handler, &before), 0);
  const pthread_t waiting = pthread_self();
  EXPECT_NE(error_of<CompileError>([&] {
              for (int i = 0; i < 20; ++i) {
                pthread_kill(waiting, SIGUSR1);
                usleep(1000);
              }
              std::abort();
            }),
            "");
  sigaction(SIGUSR1, &before, nullptr);
}

TEST(GuardedThread, CrashesAreErrors) {
  const std::string failed = "error: the compiler failed on this source (SIGSEGV)\n";
  EXPECT_EQ(error_of<CompileError>([] {
              volatile int depth = 0;
              recurse(&depth);
            }),
            failed);
  EXPECT_EQ(error_of<CompileError>([] { raise(SIGSEGV); }), failed);
  EXPECT_EQ(error_of<CompileError>([] {
              note_step("inline");
              std::abort();
            }),
            "error: the compiler failed on this source (SIGABRT after the step 'inline')\n");
  expect_works();
}

TEST(GuardedThread, FatalErrorsOfLlvmAreErrors) {
  EXPECT_EQ(error_of<CompileError>([] { llvm::report_fatal_error("no such instruction"); }),
            "error: the kernel is too much for the compiler: no such instruction\n");
  expect_works();
}

// By default these errors end the process.
TEST(GuardedThread, DiagnosticsOfLlvmAreErrors) {
  const std::string text = error_of<CompileError>([] {
    llvm::LLVMContext context;
    abandon_on_errors(context);
    context.emitError("there is no such register");
  });
  EXPECT_NE(text.find("there is no such register"), std::string::npos) << text;
  expect_works();
}

// There are too many abandoned threads for each to keep all memory of its stack.
TEST(GuardedThread, StackOverflowsLeaveLittleBehind) {
  for (int i = 0; i < 40; ++i) {
    EXPECT_THROW(run_guarded([] {
                   volatile int depth = 0;
                   recurse(&depth);
                 }),
                 CompileError);
  }
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(std::fscanf(file, "%*s %ld", &pages), 1);
  std::fclose(file);
  EXPECT_LT(pages * sysconf(_SC_PAGESIZE), 4l << 30);
}

// Otherwise Clang would continue on a thread that is not guarded.
TEST(GuardedThread, ClangNeverChangesThreads) {
  bool exhausted = false;
  run_guarded([&] {
    exhausted = clang::isStackNearlyExhausted();
    for (int i = 1; i < 24 && !exhausted; ++i) {
      auto* more = static_cast<volatile char*>(alloca(1 << 20));
      more[0] = 1;
      exhausted = clang::isStackNearlyExhausted();
    }
  });
  EXPECT_FALSE(exhausted);
}

TEST(InternalCheck, NamesTheFunction) {
  const std::string text = error_of<InternalError>([] { internal_check(1 > 2, "order is lost"); });
  EXPECT_NE(
      text.find("InternalCheck_NamesTheFunction_Test::TestBody] internal error: order is lost"),
      std::string::npos)
      << text;
  EXPECT_NO_THROW(internal_check(2 > 1, "order is lost"));
  EXPECT_THROW(internal_error("not below run_guarded"), InternalError);
  expect_works();
}

TEST(CheckedCast, RefusesOtherTypes) {
  llvm::LLVMContext context;
  llvm::Value* number = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), 7);
  EXPECT_EQ(checked_cast<llvm::ConstantInt>(number)->getZExtValue(), 7u);
  EXPECT_EQ(checked_cast<llvm::ConstantInt>(*number).getZExtValue(), 7u);
  EXPECT_THROW(checked_cast<llvm::Function>(number), InternalError);
  EXPECT_THROW(checked_cast<llvm::Function>(*number), InternalError);
  EXPECT_THROW(checked_cast<llvm::Function>(static_cast<llvm::Value*>(nullptr)), InternalError);
}

struct ForgetfulPass : llvm::PassInfoMixin<ForgetfulPass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    function.getEntryBlock().getTerminator()->eraseFromParent();
    return llvm::PreservedAnalyses::none();
  }
};

TEST(Verify, NamesThePass) {
  if (!verifies_ir()) return;  // LLVM would take such code
  const std::string text = error_of<InternalError>([] {
    llvm::LLVMContext context;
    llvm::Module module("broken", context);
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
    auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "f", module);
    llvm::IRBuilder<>(llvm::BasicBlock::Create(context, "entry", function)).CreateRetVoid();
    Analyses analyses;
    llvm::FunctionPassManager passes;
    passes.addPass(ForgetfulPass());
    passes.run(*function, analyses.functions);
  });
  EXPECT_NE(text.find("ForgetfulPass"), std::string::npos) << text;
}

TEST(Verify, NamesTheStep) {
  llvm::LLVMContext context;
  llvm::Module module("broken", context);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "f", module);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", function));
  bool found = false;
  try {
    verify(*function, "widened");  // the block has no end
  } catch (const InternalError& error) {
    found = std::string(error.what()).find("after the step 'widened'") != std::string::npos;
  }
  EXPECT_EQ(found, verifies_ir());
  b.CreateRetVoid();
  EXPECT_NO_THROW(verify(module, "widened"));
}

}  // namespace
}  // namespace metal::compiler
