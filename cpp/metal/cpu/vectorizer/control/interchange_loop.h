// Makes bodies that run one iteration of a thread's loop, so that a row's threads take turns.
#pragma once

namespace llvm {
class Function;
}

namespace metal::cpu {

class Optimizer;

// In a grid-stride loop, a thread accesses elements that are far apart, and its neighbours access
// those beside them: for (k = thread; k < count; k += threads). Gang after gang, memory would be
// read and written in short pieces. So the loop is interchanged with that over the threads: all
// threads of a row run their first iteration, then their second one.
//
// This is only for threads that do not wait for each other. They may run in any order, so also in
// turns. Each thread still runs its iterations in order.
//
// The loop is the only one that is not inside another. It only carries numbers and addresses that
// grow by the same amount in each iteration, so that an iteration computes them from its number.
// What comes before it is computed again in each iteration, so it has no effects, and reads nothing
// that the loop writes. Nothing but the end of the thread comes after it.
struct InterchangedLoop {
  // The body with one more argument, the number of an iteration, which it runs if the thread does.
  // Null if there is no such loop.
  llvm::Function* iteration = nullptr;
  // A function of the body's arguments for the first thread of a row, which returns how many
  // iterations the threads of the row run at most. It returns 0 if that is not known, or if a
  // number may wrap around: then `iteration` must not be called.
  llvm::Function* count = nullptr;
};

InterchangedLoop interchange_loop(llvm::Function& body, Optimizer& optimizer);

}  // namespace metal::cpu
