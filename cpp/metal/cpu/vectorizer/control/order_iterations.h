// Changes the order of iterations that may run in any order, so that memory is read piece by piece.
#pragma once

#include "llvm/IR/PassManager.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace metal::cpu {

// For the loops of commuting_loops.h:
//
// - In a grid-stride loop, for (i = thread; i < n; i += threads), neighbouring threads read
//   neighbouring elements. Gangs take turns: a barrier ends each iteration, so that all gangs run
//   it before the next one. A barrier only keeps threads from running ahead, so it changes no
//   result. But all threads must reach it equally often, so each of them counts to the greatest
//   number of iterations of a thread of the threadgroup, and only runs its own. If that number is
//   not known when the loop starts, or a number may wrap around, the loop runs as it was.
// - If each thread reads a run of elements, the iterations of one thread read neighbouring
//   elements. Then the lanes of a gang share each thread's iterations: lane k runs iteration k of
//   the gang's first thread, and so on. This needs gangs whose lanes all have threads, loops with
//   as many iterations for each thread, a multiple of the number of lanes, and operations of one
//   kind, as a thread's own ones change places.
//
// Returns whether it has changed something. Code of the old loops may be left that never runs.
bool order_iterations(llvm::Function& body, const BodyShapes& shapes,
                      llvm::FunctionAnalysisManager& analyses);

}  // namespace metal::cpu
