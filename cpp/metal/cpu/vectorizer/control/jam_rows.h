// Makes bodies that run the threads of several rows, or of several layers, at once.
#pragma once

#include <cstdint>

namespace llvm {
class Function;
}

namespace metal::cpu {

struct BodyShapes;
struct Variant;
class Optimizer;

// In a transposition, the lanes of a gang access elements far apart, and the threads below them (or
// behind them, in the next layers) access the elements beside these. The body that is made here
// runs a column of threads, each below the one before, instruction by instruction. So each lane
// accesses a run of elements, which widening reads or writes as blocks (widen_rows.cpp). The gang
// bails out before it has effects if a thread takes another way than most: guards at the edges of
// the data do that.
//
// This is only for threads that do not wait for each other. They may run in any order, so also in
// turns.
struct JammedRows {
  llvm::Function* body = nullptr;  // null if the given one has loops or no such accesses
  uint32_t threads = 1;            // of a column; a power of two
  unsigned dimension = 1;          // along which they are neighbours: 1 for y, 2 for z
};

JammedRows clone_jamming_rows(llvm::Function& body, const Variant& variant,
                              const BodyShapes& shapes, Optimizer& optimizer);

}  // namespace metal::cpu
