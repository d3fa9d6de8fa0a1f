// Loops that count: what their numbers are in an iteration, and how often a row of threads runs
// them.
#pragma once

#include <optional>

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

namespace llvm {
class Loop;
}

namespace metal::cpu {

// The number or address that grows by the same amount in each iteration; null if it does not.
const llvm::SCEVAddRecExpr* recurrence_of(llvm::PHINode& phi, const llvm::Loop& loop,
                                          llvm::ScalarEvolution& evolution);

// Whether the loop carries nothing else.
bool only_counts(const llvm::Loop& loop, llvm::ScalarEvolution& evolution);

// Threads for which a value may be the same: those that only differ in x, or all of a threadgroup.
enum class Threads { OfRow, OfThreadgroup };

bool is_same(Threads threads, const llvm::Value& value);
bool is_same(Threads threads, const llvm::SCEV& value);

// A loop that runs while a number is below a limit.
struct CountedLoop {
  llvm::Loop* loop;
  llvm::PHINode* number;  // counts up
  llvm::Value* limit;     // the same in all iterations
  bool is_signed;
  // Whether the number of the next iteration is compared, or that of the one that ends: LLVM takes
  // a constant step off a constant limit instead of adding it to the number.
  bool compares_next;
  bool tests_first;  // all threads that enter the loop start below the limit
  // Threads of a row start with numbers that are so far apart if all are at most `greatest_start`.
  uint64_t thread_step;
  uint64_t greatest_start;
};

// If the loop only counts, and its latch is the only exit. The limit and the step are the same for
// the threads, and so is the number at which the first one of a row starts.
std::optional<CountedLoop> find_counted_loop(llvm::Loop& loop, llvm::ScalarEvolution& evolution,
                                             Threads threads);

// Computes numbers of a loop before it. The builder stays where it is.
class LoopNumbers {
 public:
  LoopNumbers(const llvm::Loop& loop, llvm::ScalarEvolution& evolution, llvm::IRBuilder<>& b);

  llvm::Value* step_of(llvm::PHINode& phi);
  // What the phi is in the iteration with this number, for a thread with this start.
  llvm::Value* in_iteration(llvm::PHINode& phi, llvm::Value* start, llvm::Value* step,
                            llvm::Value* iteration, const CountedLoop* counted = nullptr);
  // At which number the first thread of the row starts.
  llvm::Value* first_start(const CountedLoop& counted);

 private:
  llvm::Value* expand(const llvm::SCEV* value);

  const llvm::Loop& loop_;
  llvm::ScalarEvolution& evolution_;
  llvm::SCEVExpander expander_;
  llvm::IRBuilder<>& b_;
};

// Whether a thread that enters the loop runs the iteration. `number` is what it counts there.
llvm::Value* runs_iteration(llvm::IRBuilder<>& b, const CountedLoop& counted, llvm::Value* number,
                            llvm::Value* step, llvm::Value* iteration);

// How many iterations the threads of a row run at most, as an i32; 0 if that is not known or if a
// number may wrap around. `first`: the number at which the first thread starts.
llvm::Value* count_iterations(llvm::IRBuilder<>& b, const CountedLoop& counted, llvm::Value* first,
                              llvm::Value* step, llvm::Value* group);

}  // namespace metal::cpu
