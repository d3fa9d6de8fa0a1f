// The names of the calls, metadata and arguments that steps of code generation leave for later
// steps.
#pragma once

namespace metal::cpu {

// The arguments of a kernel's body and of vector code, in this order: the threadgroup, the thread's
// position in it, the thread's index in it; vector code alone has the number of the lane in its
// gang and whether the lane has a thread.
enum BodyArgument : unsigned {
  kGroupArgument,
  kXArgument,
  kYArgument,
  kZArgument,
  kIndexArgument,
  kLaneArgument,
  kActiveArgument,
  kIterationArgument  // only of the iterations of interchanged loops
};
inline constexpr const char* kBodyArgumentNames[] = {"group", "x",    "y",     "z",
                                                     "index", "lane", "active"};

// ptr (): in checked kernels, the group argument of the body, which does not exist yet.
inline constexpr const char* kGroupMarker = "check.group";

// The functions of checks/check_abi.h have names that begin with this.
inline constexpr const char* kCheckPrefix = "metal_cpu_check_";
// os_log: the runtime's function, see runtime/messages.h.
inline constexpr const char* kLogCall = "metal_cpu_log";
// i1 (ptr, i64): see collisions.h.
inline constexpr const char* kCollides = "check.collides";

// Calls that passes of the vectoriser leave for each other. Each comment gives the result, the
// arguments and the meaning.
inline constexpr const char* kAnyLane = "simd.any";      // i1 (i1): true in any lane
inline constexpr const char* kAllLanes = "simd.all";     // i1 (i1): true also in inactive lanes
inline constexpr const char* kAllRun = "simd.all_run";   // i1 (): all lanes run this block
inline constexpr const char* kBlockMask = "simd.mask";   // void (i1): lanes that run this block
inline constexpr const char* kContext = "simd.context";  // i1 (): a mask not known yet
inline constexpr const char* kNever = "simd.never";      // i1 (): false, but opaque to LLVM
inline constexpr const char* kBarrier = "simd.barrier";  // void (): gangs wait for each other
inline constexpr const char* kFrameSize = "simd.frame_size";  // void (i64): of a gang
// i32 (i32, i32): divisions of an index by a size, assuming that all lanes have one quotient.
// If they do not, the gang bails out before it has effects.
inline constexpr const char* kCoherentUDiv = "simd.coherent.udiv";
inline constexpr const char* kCoherentURem = "simd.coherent.urem";
inline constexpr const char* kCoherentSDiv = "simd.coherent.sdiv";
inline constexpr const char* kCoherentSRem = "simd.coherent.srem";
// i64 (i32): extensions of strided integers, assuming that no lane wraps around.
inline constexpr const char* kCoherentZExt = "simd.coherent.zext";
inline constexpr const char* kCoherentSExt = "simd.coherent.sext";
// void (i1): the gang bails out unless this is true in all lanes; see assume_inside.h.
inline constexpr const char* kInside = "simd.inside";
// A column of elements, one for each lane: see columns.h.
inline constexpr const char* kColumn = "simd.column";
// Operations on whole matrices: see matrix_operations.h.
inline constexpr const char* kMatrixLoad = "simd.matrix.load";
inline constexpr const char* kMatrixStore = "simd.matrix.store";
inline constexpr const char* kMatrixMultiply = "simd.matrix.multiply";
inline constexpr const char* kMatrixRows = "simd.matrix.rows";
inline constexpr const char* kMatrixLanes = "simd.matrix.lanes";

// Attribute of functions: see loops_of_gangs.h.
inline constexpr const char* kLoopsOfGangs = "simd.loops_of_gangs";

// Flag of modules: see order_for_registers.h.
inline constexpr const char* kOrdered = "simd.ordered";

// Metadata of single instructions.
inline constexpr const char* kStream = "simd.stream";  // prefetch: the next gang prefetches on
// load: what the lanes read ends where they begin to read in the next iteration.
inline constexpr const char* kReadsOn = "simd.reads_on";
inline constexpr const char* kNontemporal = "simd.nontemporal";  // store: may be non-temporal
inline constexpr const char* kDeferred = "simd.deferred";        // atomic addition: may be deferred
inline constexpr const char* kDescending = "simd.descending";    // see descending_barriers.h
inline constexpr const char* kCommuting = "simd.commuting";      // see phase_order.h
inline constexpr const char* kUnwritten = "simd.unwritten";  // load: see reads_unwritten_buffer()
// alloca that has a copy for each lane: the distance in bytes between the copies of an element.
inline constexpr const char* kCopyDistance = "simd.copies";

}  // namespace metal::cpu
