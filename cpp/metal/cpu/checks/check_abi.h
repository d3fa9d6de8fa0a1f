// Binary interface between checked code and the runtime: constants in the code, which findings
// point to, and the calls.
#pragma once

#include <cstdint>

#include "metal/cpu/abi.h"

namespace metal::cpu {

// An atomic read changes nothing; all other atomic accesses do.
enum class AccessKind : uint32_t { Read, Write, Atomic, AtomicRead };
enum class ObjectKind : uint32_t { Buffer, Threadgroup, Private, Table };
// Of a float that leaves the kernel, if it has 16 bits.
enum class ResultFormat : uint32_t { None, Half, BFloat };

// A place in the source.
struct CheckSite {
  const char* file;  // empty where unknown
  const char* what;  // of a call: its name
  uint32_t line;     // 0 where unknown
  uint32_t column;
};

// A buffer, or a variable with memory.
struct CheckObject {
  const char* name;
  ObjectKind kind;
  uint32_t element_bytes;  // at least 1
};

// What coverage counts in a kernel. The calls pass an index.
struct CoverageTable {
  // Code of a line in a block of code. Each copy of a line, where calls were inlined, counts for
  // itself.
  struct Line {
    const CheckSite* site;
    uint32_t block;
    uint32_t copy;
  };
  struct Edge {
    const CheckSite* site;
    uint32_t successor;
  };
  struct Access {
    const CheckSite* site;
    uint32_t writes;
    uint32_t device;  // else threadgroup memory
  };
  uint32_t blocks, lines, edges, accesses;  // numbers of them
  const Line* line;
  const Edge* edge;
  const Access* access;
};

}  // namespace metal::cpu

extern "C" {

// An access outside of its object, at this distance from the object's begin. Gives the number of a
// finding that counts only when metal_cpu_check_used is called with it, or 0 where it counts at
// once.
uint32_t metal_cpu_check_outside(const metal::cpu::Group* group, const metal::cpu::CheckSite* site,
                                 const metal::cpu::CheckObject* object, int64_t offset,
                                 uint64_t size, uint64_t bytes, metal::cpu::AccessKind access,
                                 bool deferred);
// Memory that stands in for what is outside: zeros where it is read.
void* metal_cpu_check_nowhere(const metal::cpu::Group* group, metal::cpu::AccessKind access);
// A value that came from outside of an object has had an effect.
void metal_cpu_check_used(const metal::cpu::Group* group, uint32_t finding);

// A thread reaches a barrier, of its threadgroup or (scope 0) of its SIMD-group.
void metal_cpu_check_barrier(const metal::cpu::Group* group, const metal::cpu::CheckSite* site,
                             uint32_t scope, bool orders);
// It takes a branch that decides which threads reach a barrier. If its paths do not reconverge, one
// of them returns from the kernel.
void metal_cpu_check_branch(const metal::cpu::Group* group, const metal::cpu::CheckSite* site,
                            uint32_t number, uint64_t successor, bool reconverges);

// It is about to write memory that others may touch: metal_cpu_check_access comes afterwards.
void metal_cpu_check_overwrite(const metal::cpu::Group* group,
                               const metal::cpu::CheckObject* object, const void* place,
                               uint64_t bytes);
// It touches memory that others may touch; the object begins at this address.
void metal_cpu_check_access(const metal::cpu::Group* group, const metal::cpu::CheckSite* site,
                            const metal::cpu::CheckObject* object, uint64_t begin, uint64_t address,
                            uint64_t bytes, metal::cpu::AccessKind access);
// Of screened code: something may be wrong. It leaves the kernel.
void metal_cpu_check_suspect(const metal::cpu::Group* group);
// A thread ends that has reached these barriers, by a number that is not 0; the one in this place
// of Group::histories is another one, or 0 where no thread has ended before.
void metal_cpu_check_history(const metal::cpu::Group* group, uint32_t place, uint32_t passed);
// A variable without a value comes to life. Gives the number of a finding, which counts when
// metal_cpu_check_matters or metal_cpu_check_undefined_store is called with it.
uint32_t metal_cpu_check_valueless(const metal::cpu::Group* group,
                                   const metal::cpu::CheckSite* site,
                                   const metal::cpu::CheckObject* object);
// Likewise where memory is read that nobody has written, as its shadow says.
uint32_t metal_cpu_check_unwritten(const metal::cpu::Group* group,
                                   const metal::cpu::CheckSite* site,
                                   const metal::cpu::CheckObject* object, uint64_t begin,
                                   uint64_t address, const char* shadow, uint64_t bytes);
// An undefined value has an effect.
void metal_cpu_check_matters(const metal::cpu::Group* group, const metal::cpu::CheckSite* site,
                             uint32_t finding);
// It is stored in memory that threads share. In a buffer it has an effect if it is there at the
// end.
void metal_cpu_check_undefined_store(const metal::cpu::Group* group,
                                     const metal::cpu::CheckSite* site,
                                     const metal::cpu::CheckObject* object, uint64_t begin,
                                     uint64_t address, uint64_t bytes, uint32_t finding);
// The kernel may write buffers in ways that no check can follow.
void metal_cpu_check_unknown_writes(const metal::cpu::Group* group);
// Of the check of order. These bytes are about to be written, and this is to be added to a float,
// in threadgroup memory (`shared`) or device memory.
void metal_cpu_check_written(const metal::cpu::Group* group, const metal::cpu::CheckSite* site,
                             const void* place, uint64_t bytes);
void metal_cpu_check_sum(const metal::cpu::Group* group, const void* place, float addend,
                         bool shared);
// Of coverage: a thread runs a block, takes a branch to a successor, is about to touch memory.
void metal_cpu_check_block(const metal::cpu::Group* group, const metal::cpu::CoverageTable* table,
                           uint32_t block);
void metal_cpu_check_edge(const metal::cpu::Group* group, const metal::cpu::CoverageTable* table,
                          uint32_t edge);
void metal_cpu_check_touch(const metal::cpu::Group* group, const metal::cpu::CoverageTable* table,
                           uint32_t access, const void* place, uint64_t bytes);
// Of the check of numbers. An operation makes something that is not finite of these operands; gives
// its number.
uint32_t metal_cpu_check_number_made(const metal::cpu::Group* group,
                                     const metal::cpu::CheckSite* site, double result,
                                     uint32_t operands, double a, double b, double c);
// The number of what was stored there, or 0.
uint32_t metal_cpu_check_number_loaded(const metal::cpu::Group* group, uint64_t address,
                                       uint64_t bytes, uint64_t element_bytes);
// Something that is not finite is stored, in device memory where it leaves the kernel.
void metal_cpu_check_number_stored(const metal::cpu::Group* group,
                                   const metal::cpu::CheckSite* site,
                                   const metal::cpu::CheckObject* object, uint64_t begin,
                                   uint64_t address, uint64_t bytes, uint64_t element_bytes,
                                   uint32_t number, bool leaves);
void metal_cpu_check_numbers_copied(const metal::cpu::Group* group,
                                    const metal::cpu::CheckSite* site,
                                    const metal::cpu::CheckObject* object, uint64_t begin,
                                    uint64_t address, uint64_t from, uint64_t bytes, bool leaves);
void metal_cpu_check_number_converted(const metal::cpu::Group* group,
                                      const metal::cpu::CheckSite* site, uint32_t number);
// Of the check of rounding. The function that the site names, of exact_math.h.
double metal_cpu_check_exact_math(const metal::cpu::Group* group, const metal::cpu::CheckSite* site,
                                  uint32_t operands, double a, double b, double c);
// The exact value of this float at an address.
double metal_cpu_check_exact_loaded(const metal::cpu::Group* group, uint64_t address, double value);
// A float is stored that has this exact value.
void metal_cpu_check_exact_stored(const metal::cpu::Group* group, const metal::cpu::CheckSite* site,
                                  const metal::cpu::CheckObject* object, uint64_t begin,
                                  uint64_t address, double value, double exact,
                                  metal::cpu::ResultFormat format);
void metal_cpu_check_exact_copied(const metal::cpu::Group* group, uint64_t address, uint64_t from,
                                  uint64_t bytes);
// An index is used that has wrapped around at `site`: the operation's value, in 32 bits and
// exactly, and its operands.
void metal_cpu_check_wrapped(const metal::cpu::Group* group, const metal::cpu::CheckSite* site,
                             const metal::cpu::CheckSite* access,
                             const metal::cpu::CheckObject* object, int64_t value, int64_t exact,
                             int64_t a, int64_t b);
// A fence.
void metal_cpu_check_fence(const metal::cpu::Group* group);
// For a debugger: see compiler/mark_stops.h.
void metal_cpu_check_debug_enter(const metal::cpu::Group* group, const char* description);
void metal_cpu_check_debug_variable(const metal::cpu::Group* group, uint32_t number,
                                    uint64_t address);
void metal_cpu_check_debug_line(const metal::cpu::Group* group, const metal::cpu::CheckSite* site,
                                uint32_t number);
void metal_cpu_check_debug_leave(const metal::cpu::Group* group);
}
