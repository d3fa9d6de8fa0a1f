// Loads, stores and atomic operations of all lanes at once.
#pragma once

#include "llvm/IR/Instructions.h"
#include "metal/cpu/vectorizer/widener.h"

namespace metal::cpu {

class MemoryWidener {
 public:
  MemoryWidener(Widener& widener, llvm::Function& body);

  void enter(llvm::BasicBlock& block);  // before its instructions

  void load(llvm::LoadInst& load);
  void store(llvm::StoreInst& store);
  void read_modify_write(llvm::AtomicRMWInst& operation);
  void compare_exchange(llvm::AtomicCmpXchgInst& operation);

 private:
  struct Access {
    llvm::Type* type;  // of an element in memory
    uint64_t size;     // bytes
    llvm::Align align;
    bool is_volatile;
  };

  // Distance between neighbouring lanes in bytes if it is the same for all, else 0.
  int64_t stride(const Shape& shape) const;
  llvm::Value* load_pattern(const Access& access, llvm::Value* pointer, const Shape& shape);
  llvm::Value* load_window(const Access& access, llvm::Value* pointer, const Shape& shape);
  llvm::Value* load_varying(const Access& access, llvm::Value* pointer);
  llvm::Value* load_contiguous(const Access& access, llvm::Value* first);
  llvm::Value* gather(const Access& access, llvm::Value* pointers);
  llvm::Function* lane_loader(uint64_t size);
  void store_contiguous(const Access& access, llvm::Value* first, llvm::Value* values);
  void store_varying(const Access& access, llvm::Value* pointer, llvm::Value* values);
  void scatter(const Access& access, llvm::Value* pointers, llvm::Value* values);
  void store_uniform(llvm::StoreInst& store);

  // The lanes' addresses follow each other, as far as lanes are active.
  llvm::Value* are_consecutive(const IndexedAddress& address, uint64_t size);
  llvm::Value* are_equal(const IndexedAddress& address);
  llvm::Value* first_address(const IndexedAddress& address);
  llvm::Value* all_addresses(const IndexedAddress& address, llvm::Value* pointers);

  void find_interleaved_stores(llvm::BasicBlock& block);
  void store_interleaved(llvm::ArrayRef<llvm::StoreInst*> stores);

  llvm::Value* rmw_once(const llvm::AtomicRMWInst& operation, llvm::Value* pointer,
                        llvm::Value* value);
  void rmw_uniform_address(llvm::AtomicRMWInst& operation);
  bool add_to_row(llvm::AtomicRMWInst& operation);
  void rmw_lane_by_lane(llvm::AtomicRMWInst& operation);

  Widener& w_;
  llvm::IRBuilder<>& b_;
  bool takes_locks_;  // for additions to floats
  // Stores that fill consecutive memory together, by the last of them; the others wait for it.
  llvm::DenseMap<llvm::StoreInst*, llvm::SmallVector<llvm::StoreInst*, 4>> interleaved_;
  llvm::DenseSet<llvm::StoreInst*> deferred_;
};

}  // namespace metal::cpu
