// The screen of races: two accesses to one place that no barrier orders.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "metal/compiler/matrix_calls.h"
#include "metal/cpu/checks/accesses.h"
#include "metal/cpu/checks/provenance.h"
#include "metal/cpu/checks/stamp.h"

namespace metal::cpu {

// Of memory that the kernel writes and threads share, each place has a stamp (stamp.h) of the last
// write and one of the reads since. They lie side by side for neighbouring places, so that a gang
// compares and writes them as vectors.
class RaceScreen {
 public:
  // Some accesses are those of the elements of `matrices`. Not `wanted`: no access is tracked.
  RaceScreen(CheckBuilder& builder, Provenances& provenances, const std::vector<Access>& accesses,
             const std::vector<compiler::MatrixAccess>& matrices, bool wanted);

  // Whether other threads may touch the same memory, one of them to change it.
  bool tracks(const Access& access) const;
  // How many tests `add` makes for the access.
  uint64_t tests_of(const Access& access);
  // Puts tests around an access that is inside of its object.
  void add(const Access& access);

 private:
  // What the kernel does with an object, or with several that a pointer may lead to.
  struct Use {
    bool reads = false, writes = false, atomic = false;
    bool known = true;  // where its stamps are
    uint64_t granule = kStampGranule;
    bool may_race() const { return writes || (atomic && reads); }
    void add(const Use& other);
  };
  // The stamps of a place, and the thread that touches it now.
  struct Place {
    llvm::Value* write;
    llvm::Value* read;  // null if nothing reads there
    bool device;
    llvm::Value* thread;
  };

  Use& use_of(const llvm::Value* object);
  void note(const Access& access);
  void count_barriers();
  // `displacement`: in granules.
  Place place_of(llvm::IRBuilder<>& b, llvm::Value* pointer, llvm::Value* displacement);

  void add_matrix(const Access& element, const compiler::MatrixAccess& matrix);
  llvm::Value* is_one_matrix(llvm::IRBuilder<>& b, const compiler::MatrixAccess& matrix);
  // The granules of an access from this place on.
  void screen(const Access& access, const Place& first);
  void screen_read(llvm::Instruction& at, const Place& place);
  void screen_write(llvm::Instruction& at, const Place& place);
  void screen_atomic(llvm::Instruction& at, const Place& place);
  // Suspects the access where this stamp is of another thread and nothing orders the two.
  void test(llvm::Instruction& at, llvm::Value* stamp, const Place& place, bool atomic);

  llvm::Value* order(llvm::IRBuilder<>& b);
  llvm::Value* stamp_of(llvm::IRBuilder<>& b, const Place& place);  // of the thread, now
  llvm::Value* many(llvm::IRBuilder<>& b);
  llvm::Value* in_my_phase(llvm::IRBuilder<>& b, llvm::Value* stamp);
  llvm::Value* ordered_in_simdgroup(llvm::IRBuilder<>& b, llvm::Value* difference);
  llvm::Value* by_another_group(llvm::IRBuilder<>& b, llvm::Value* stamp);

  CheckBuilder& builder_;
  Provenances& provenances_;
  llvm::DenseMap<const llvm::Instruction*, const compiler::MatrixAccess*> matrices_;
  std::map<const llvm::Value*, size_t> numbers_;  // of objects, among `uses_`
  std::deque<Use> uses_;
  llvm::AllocaInst* order_ = nullptr;  // a stamp without a thread
  bool lanes_wait_ = false;            // for the others of their SIMD-group
};

}  // namespace metal::cpu
