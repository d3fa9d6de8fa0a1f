// Loads, stores and atomic operations of all lanes at once.
#pragma once

#include "llvm/IR/IntrinsicInst.h"
#include "metal/cpu/vectorizer/matrix/matrix_elements.h"
#include "metal/cpu/vectorizer/speculation.h"
#include "metal/cpu/vectorizer/widen/widener.h"

namespace metal::cpu {

// An address as a constant number of bytes behind another.
std::pair<llvm::Value*, int64_t> split_constant(llvm::Value* pointer,
                                                const llvm::DataLayout& layout);

class MemoryWidener {
 public:
  MemoryWidener(Widener& widener, llvm::Function& body);

  void enter(llvm::BasicBlock& block);  // before its instructions

  void load(llvm::LoadInst& load);
  void store(llvm::StoreInst& store);
  void copy(llvm::MemCpyInst& copy);
  void prefetch(llvm::IntrinsicInst& hint);
  void read_modify_write(llvm::AtomicRMWInst& operation);
  void compare_exchange(llvm::AtomicCmpXchgInst& operation);

 private:
  struct Access {
    llvm::Type* type;  // of an element in memory
    uint64_t size;     // bytes
    llvm::Align align;
    bool is_volatile;
    bool is_nontemporal = false;
  };

  struct Member {
    llvm::StoreInst* store;
    int64_t offset;  // bytes behind the address that stores have in common
  };
  using StoreGroup = llvm::SmallVector<llvm::StoreInst*, 4>;

  static constexpr int64_t kWidestStride = 8;  // elements between lanes that are read as one block
  static constexpr size_t kManyAlike = 4;      // groups of stores that share their code

  // What all lanes read at once: see speculation.h for whether that is allowed.
  bool may_read(llvm::Value* pointer, const Shape& shape, Span span) const;
  static Span span_of(const Shape& shape, int64_t size);
  // Distance between neighbouring lanes in bytes if it is the same for all, else 0.
  int64_t stride(const Shape& shape) const;
  unsigned elements_in_block(int64_t size) const;
  llvm::Value* load_offsets(const Access& access, llvm::Value* pointer, const Shape& shape);
  llvm::Value* load_window(const Access& access, llvm::Value* pointer, const Shape& shape);
  llvm::Value* load_blocks(const Access& access, llvm::Value* pointer, const Shape& shape);
  llvm::Value* load_strided(const Access& access, llvm::Value* pointer);
  llvm::Value* load_varying(const Access& access, llvm::Value* pointer);
  llvm::Value* load_contiguous(const Access& access, llvm::Value* first);
  llvm::Value* gather(const Access& access, llvm::Value* pointer);
  llvm::Value* masked_gather(const Access& access, llvm::Value* pointers);
  llvm::Value* addresses(llvm::Value* pointer);
  IndexedAddress settled_address(llvm::Value* pointer);
  llvm::Value* gather_steps(const Access& access, llvm::Value* pointer);
  llvm::Function* strided_loader(uint64_t size);
  void store_contiguous(const Access& access, llvm::Value* first, llvm::Value* values);
  void store_block(const Access& access, llvm::Value* first, llvm::Value* values);
  void store_strided(const Access& access, llvm::Value* pointer, llvm::Value* values);
  void store_varying(const Access& access, llvm::Value* pointer, llvm::Value* values);
  void scatter(const Access& access, llvm::Value* pointer, llvm::Value* values);
  void store_uniform(llvm::StoreInst& store);

  // The lanes' addresses follow each other, as far as lanes are active.
  llvm::Value* are_consecutive(const IndexedAddress& address, uint64_t size);
  llvm::Value* are_equal(const IndexedAddress& address);
  llvm::Value* first_address(const IndexedAddress& address);

  void find_store_groups(llvm::BasicBlock& block);
  void make_store_groups(llvm::MutableArrayRef<Member> members);
  void store_group(const StoreGroup& stores);
  void store_runs(const StoreGroup& stores, const Shape& shape);
  size_t count_alike(const StoreGroup& stores, const Shape& shape) const;  // in this block
  void write_runs(llvm::IRBuilder<>& b, llvm::ArrayRef<llvm::Value*> operands, const Shape& shape,
                  llvm::Align align) const;

  void copy_runs(llvm::MemCpyInst& copy);
  void copy_lane_by_lane(llvm::MemCpyInst& copy);

  llvm::Value* rmw_once(const llvm::AtomicRMWInst& operation, llvm::Value* pointer,
                        llvm::Value* value);
  void rmw_uniform_address(llvm::AtomicRMWInst& operation);
  bool add_to_row(llvm::AtomicRMWInst& operation);
  llvm::Value* is_whole_row(llvm::Value* first);
  void add_row_at_once(llvm::Value* first, llvm::Value* values);
  void rmw_lane_by_lane(llvm::AtomicRMWInst& operation);
  void rmw_in_a_row(llvm::AtomicRMWInst& operation);

  Widener& w_;
  llvm::IRBuilder<>& b_;
  MatrixElements matrix_elements_;
  bool takes_locks_;  // for additions to floats
  // Stores of each lane to consecutive memory, by the last of them; the others wait for it.
  llvm::DenseMap<llvm::StoreInst*, StoreGroup> groups_;
  llvm::DenseSet<llvm::StoreInst*> deferred_;
};

}  // namespace metal::cpu
