// Widens loads, stores and atomic operations.
#pragma once

#include "llvm/IR/IntrinsicInst.h"
#include "metal/cpu/vectorizer/matrix/matrix_elements.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/speculation.h"
#include "metal/cpu/vectorizer/widen/blocks.h"
#include "metal/cpu/vectorizer/widen/lane_loads.h"
#include "metal/cpu/vectorizer/widen/table_lookup.h"
#include "metal/cpu/vectorizer/widen/widener.h"

namespace metal::cpu {

// Whether nobody else sees the memory, so that the operation need not be atomic.
bool is_exclusive(const llvm::AtomicRMWInst& operation);

// Whether it is such an operation, and it does not matter when other gangs run theirs.
bool commutes(const llvm::Instruction& instruction);

// The largest index that active lanes may have, and one; 0 if it is not known to be small.
uint64_t count_of_indices(const llvm::Value& index, const llvm::DataLayout& layout);

class MemoryWidener {
 public:
  MemoryWidener(Widener& widener, llvm::Function& body);

  void enter(llvm::BasicBlock& block);  // before the block's instructions are widened
  // Whether the value is not widened, as only lane-by-lane code uses it.
  bool has_no_vector(const llvm::Value& value) const { return lane_loads_.has_no_vector(value); }

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
    int64_t offset;  // in bytes, from the address that the stores share
  };
  using StoreGroup = llvm::SmallVector<llvm::StoreInst*, 4>;

  // Loads of neighbouring elements, or stores to them, in the order of the block. Offsets are
  // counted in elements from the first one.
  struct Row {
    struct Element {
      llvm::Instruction* access;
      int64_t offset;
    };
    llvm::SmallVector<Element, 8> elements;
    // If the addresses only differ in an index of 32 bits: the addresses' base, and the index of
    // the first.
    llvm::Value* base = nullptr;
    llvm::Value* index = nullptr;
    int64_t bytes = 0;  // added to the address
    bool is_signed = false;

    llvm::Instruction& first() const { return *elements[0].access; }
    std::pair<int64_t, int64_t> range() const;  // the lowest offset and the highest
  };
  using Vectors = llvm::SmallVector<llvm::Value*>;

  static constexpr size_t kManyAlike = 4;  // so many groups of stores share a function

  // Whether all lanes may read `span`, by the rules of speculation.h.
  bool may_read(llvm::Value* pointer, const Shape& shape, Span span) const;
  static Span span_of(const Shape& shape, int64_t size);
  // The distance in bytes between neighbouring lanes if it is a constant, otherwise 0.
  int64_t stride(const Shape& shape) const;
  unsigned elements_in_block(int64_t size) const;
  BlockForm form_of(uint64_t elements, int64_t size) const;
  llvm::Value* load_offsets(const Access& access, llvm::Value* pointer, const Shape& shape);
  llvm::Value* load_window(const Access& access, llvm::Value* pointer, const Shape& shape);
  llvm::Value* load_blocks(const Access& access, llvm::Value* pointer, const Shape& shape);
  // How many lanes have neighbouring elements, in each run of as many lanes; 0 if the elements of a
  // run are less than a block.
  unsigned run_of_lanes(const Shape& shape, uint64_t size) const;
  // Read or write the elements of the active lanes only, a run at a time: so nothing else need be
  // readable. Stores keep the order of the lanes, since those of two runs may overlap.
  llvm::Value* load_lane_runs(const Access& access, llvm::Value* pointer, const Shape& shape,
                              unsigned run);
  void store_lane_runs(const Access& access, llvm::Value* pointer, const Shape& shape, unsigned run,
                       llvm::Value* values);
  // Neighbouring lanes with neighbouring elements, such as those in one row of a tile, in parts of
  // the gang. Each run is read as a vector of its part, under a mask.
  struct MaskedRun {
    unsigned lane;     // the first one
    unsigned end;      // the lane after the last one
    unsigned part;     // the first lane of its part
    int64_t distance;  // bytes from lane 0's element to where the part would start
  };
  using MaskedRuns = llvm::SmallVector<MaskedRun>;
  unsigned lanes_of_part(const Access& access) const;
  // Empty if there would be many, or if the processor has no such masks.
  MaskedRuns masked_runs(const Access& access, const Shape& shape) const;
  llvm::Value* part_of(llvm::Value* vector, const MaskedRun& run, unsigned lanes);
  llvm::Value* mask_of(const MaskedRun& run, unsigned lanes, bool of_active);
  llvm::Value* load_masked_runs(const Access& access, llvm::Value* pointer, const Shape& shape,
                                const MaskedRuns& runs);
  llvm::Value* load_strided(const Access& access, llvm::Value* pointer);
  llvm::Value* load_varying(const Access& access, llvm::Value* pointer);
  llvm::Value* load_contiguous(const Access& access, llvm::Value* first);
  // Elements that are found in registers.
  uint64_t elements_of_step(const Access& access, const IndexedAddress& address) const;
  llvm::Value* count_elements(const IndexedAddress& address, uint64_t each, llvm::Value* indices);
  Vectors read_tables(const Access& access, llvm::Value* first, uint64_t count);
  llvm::Value* find_in_tables(const Access& access, llvm::ArrayRef<Vectors> tables,
                              llvm::Value* indices);
  llvm::Value* load_from_table(const Access& access, llvm::Value* pointer,
                               const IndexedAddress& address);
  bool comes_from_coordinates(const llvm::Value* pointer) const;
  bool may_be_close(const Access& access, llvm::Value* pointer,
                    const IndexedAddress& address) const;
  llvm::Value* load_close(const Access& access, const IndexedAddress& address,
                          llvm::function_ref<llvm::Value*()> otherwise);
  llvm::Value* gather(const Access& access, llvm::Value* pointer);
  llvm::Value* gather(const Access& access, const IndexedAddress& address);
  // Elements of up to 32 bits that are handled as integers of 32 bits.
  static bool fits_in_word(const Access& access);
  llvm::Value* elements_of_words(const Access& access, llvm::Value* words);
  bool may_gather_more(const Access& access, const llvm::Value* pointer) const;
  llvm::Value* gather_more(const Access& access, const IndexedAddress& address);
  llvm::Value* masked_gather(const Access& access, llvm::Value* pointers);
  llvm::Value* addresses(const IndexedAddress& address);
  IndexedAddress frozen_address(llvm::Value* pointer);
  llvm::Value* gather_steps(const Access& access, llvm::Value* pointer);
  llvm::Function* strided_loader(uint64_t size);
  void store_contiguous(const Access& access, llvm::Value* first, llvm::Value* values);
  void store_block(const Access& access, llvm::Value* first, llvm::Value* values);
  llvm::Value* passes_caches(llvm::Value* inside);
  void store_past_caches(llvm::Value* values, llvm::Value* place, llvm::Align align) const;
  void store_strided(const Access& access, llvm::Value* pointer, llvm::Value* values);
  void store_varying(const Access& access, llvm::Value* pointer, llvm::Value* values);
  void scatter(const Access& access, llvm::Value* pointer, llvm::Value* values);
  void store_uniform(llvm::StoreInst& store);
  void store_alone(llvm::StoreInst& store);

  // Whether the addresses of active lanes are contiguous.
  llvm::Value* are_consecutive(const IndexedAddress& address, uint64_t size);
  llvm::Value* are_equal(const IndexedAddress& address);
  llvm::Value* address_of_lane(const IndexedAddress& address, unsigned lane);
  llvm::Value* address_at(const IndexedAddress& address, llvm::Value* index);  // a lane's

  void find_store_groups(llvm::BasicBlock& block);
  void make_store_groups(llvm::MutableArrayRef<Member> members);
  void store_group(const StoreGroup& stores);
  void store_runs(const StoreGroup& stores, const Shape& shape);
  size_t count_alike(const StoreGroup& stores, const Shape& shape) const;  // in this block
  void write_runs(llvm::IRBuilder<>& b, llvm::ArrayRef<llvm::Value*> operands, const Shape& shape,
                  llvm::Align align) const;
  void write_in_order(llvm::IRBuilder<>& b, llvm::ArrayRef<llvm::Value*> operands,
                      const Shape& shape, llvm::Align align) const;

  void find_rows(llvm::BasicBlock& block, unsigned opcode);
  bool joins(Row& row, llvm::Instruction& access);
  void finish_row(const Row& row);
  bool shares_blocks(const Row& row);
  bool may_be_in_row(llvm::Instruction& access) const;
  void load_row(const Row& row);
  Vectors load_row_blocks(const Row& row);
  void prefetch_rows(const Row& row, llvm::ArrayRef<llvm::Value*> pointers);
  void prefetch_known_rows(const Row& row, llvm::ArrayRef<llvm::Value*> pointers);
  void prefetch_measured_rows(const Row& row, llvm::ArrayRef<llvm::Value*> pointers);
  int64_t distance_to_later_gang(const Shape& shape) const;
  Vectors either_row(llvm::Value* condition, llvm::function_ref<Vectors()> then,
                     llvm::function_ref<Vectors()> otherwise);
  void store_row(const Row& row);
  void store_row_blocks(const Row& row);
  llvm::Value* lines_pass_caches(llvm::Value* pointer, int64_t first, size_t count, int64_t size);
  static Vectors lane_runs(llvm::IRBuilder<>& b, const BlockForm& form,
                           llvm::ArrayRef<llvm::Value*> columns, unsigned lane);
  void store_columns(llvm::IRBuilder<>& b, llvm::ArrayRef<llvm::Value*> columns,
                     llvm::ArrayRef<llvm::Value*> pointers, int64_t first, llvm::Align align) const;
  void store_lines(llvm::Value* past_caches, llvm::ArrayRef<llvm::Value*> columns,
                   llvm::ArrayRef<llvm::Value*> pointers, int64_t first, llvm::Align align);
  // Conditions at run time; null if they certainly hold.
  llvm::Value* all_of(llvm::ArrayRef<llvm::Value*> conditions);
  llvm::Value* offsets_hold(const Row& row);
  llvm::Value* stays_in_range(const Row& row);
  llvm::Value* lanes_ascend(const Row& row);
  Access row_access(const Row& row);
  IndexedAddress row_address(const Row& row, int64_t offset);
  Vectors lane_pointers(llvm::Value* pointer);

  void copy_runs(llvm::MemCpyInst& copy);
  void copy_lane_by_lane(llvm::MemCpyInst& copy);

  llvm::Value* rmw_once(const llvm::AtomicRMWInst& operation, llvm::Value* pointer,
                        llvm::Value* value);
  void rmw_uniform_address(llvm::AtomicRMWInst& operation);
  bool add_to_row(llvm::AtomicRMWInst& operation);
  llvm::Value* is_whole_row(llvm::Value* first);
  void add_row_at_once(llvm::Value* first, llvm::Value* values);
  void rmw_lane_by_lane(llvm::AtomicRMWInst& operation);
  // All return the old values, or poison if nothing uses them.
  llvm::Value* rmw_loaded_address(const llvm::AtomicRMWInst& operation, const LaneAddress& address,
                                  llvm::Value* values);
  llvm::Value* rmw_looped(const llvm::AtomicRMWInst& operation, llvm::Value* values,
                          llvm::function_ref<llvm::Value*(llvm::Value* lane)> address);
  llvm::Value* rmw_unrolled(const llvm::AtomicRMWInst& operation, llvm::Value* values,
                            llvm::function_ref<llvm::Value*(unsigned lane)> address);

  Widener& w_;
  llvm::IRBuilder<>& b_;
  MatrixElements matrix_elements_;
  LaneLoads lane_loads_;
  TableLookup tables_;
  bool takes_locks_;  // additions to floats take locks
  // Stores of each lane to contiguous memory, by the last of them, at which all are made.
  llvm::DenseMap<llvm::StoreInst*, StoreGroup> groups_;
  llvm::DenseSet<llvm::StoreInst*> deferred_;
  llvm::DenseMap<llvm::Instruction*, Row> rows_;  // by their first loads or last stores
};

}  // namespace metal::cpu
