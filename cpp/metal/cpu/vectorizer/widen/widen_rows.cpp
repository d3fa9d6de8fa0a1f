// Widens accesses of lanes that are far apart to neighbouring elements: every lane reads or writes
// its elements as blocks, which are transposed in registers. Programs in which a thread works on a
// row have such accesses.

#include <tuple>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/vectorizer/memory/nontemporal_stores.h"
#include "metal/cpu/vectorizer/memory/separate_memory.h"
#include "metal/cpu/vectorizer/prefetch/prefetch.h"
#include "metal/cpu/vectorizer/widen/blocks.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr int64_t kMaxRow = 16;     // elements from the first to the last of a row
constexpr int64_t kMaxElement = 8;  // bytes
// Elements around the first one that blocks may cover.
constexpr int64_t kAround = 2 * kMaxRow;

// An address, split into what those of neighbours share and a constant number of elements. The
// constant is part of the address, or of an index of 32 bits, where sums may wrap around.
struct SplitAddress {
  SplitAddress(Value* pointer, const llvm::DataLayout& layout) {
    std::tie(root, bytes) = split_constant(pointer, layout);
    split_index(layout);
  }

  Value* root;
  int64_t bytes;
  // If the root has such an index:
  Value* base = nullptr;
  Value* term = nullptr;  // the index without the constant
  int64_t steps = 0;
  Value* index = nullptr;
  bool is_signed = false;
  int64_t scale = 0;

 private:
  void split_index(const llvm::DataLayout& layout) {
    using namespace llvm::PatternMatch;
    auto* place = llvm::dyn_cast<llvm::GEPOperator>(root);
    if (!place || place->getNumIndices() != 1) return;
    auto* extension = llvm::dyn_cast<llvm::CastInst>(place->getOperand(1));
    if (!extension || !llvm::isa<llvm::ZExtInst, llvm::SExtInst>(extension) ||
        !extension->getSrcTy()->isIntegerTy(32))
      return;
    base = place->getPointerOperand();
    index = term = extension->getOperand(0);
    is_signed = llvm::isa<llvm::SExtInst>(extension);
    scale = static_cast<int64_t>(layout.getTypeAllocSize(place->getSourceElementType()));
    // A match that fails may set what it would have found.
    Value* rest = nullptr;
    const llvm::APInt* constant = nullptr;
    for (; match(term, m_Add(m_Value(rest), m_APInt(constant))); term = rest)
      steps += constant->getSExtValue();
  }
};

// The distance in bytes between two addresses in the same form, if it is constant as long as no
// index wraps around.
std::optional<int64_t> distance(const SplitAddress& to, const SplitAddress& from, bool by_index) {
  if (!by_index) return to.root == from.root ? std::optional(to.bytes - from.bytes) : std::nullopt;
  const bool same = to.base && to.base == from.base && to.term == from.term &&
                    to.is_signed == from.is_signed && to.scale == from.scale &&
                    to.bytes == from.bytes;
  const auto steps = static_cast<int32_t>(to.steps - from.steps);
  return same ? std::optional(steps * to.scale) : std::nullopt;
}

// Loads move up to the first one of their row, stores down to the last one.
bool may_pass(const Instruction& access, const Instruction& other) {
  if (is_prefetch(other)) return true;
  const bool matters =
      llvm::isa<llvm::LoadInst>(access) ? other.mayWriteToMemory() : other.mayReadOrWriteMemory();
  return !matters || are_separate(access, other);
}

}  // namespace

std::pair<int64_t, int64_t> MemoryWidener::Row::range() const {
  int64_t low = 0, high = 0;
  for (const Element& element : elements) {
    low = std::min(low, element.offset);
    high = std::max(high, element.offset);
  }
  return {low, high};
}

// Whether the lanes may be so far apart that each lane has blocks of its own. Stores to addresses
// with exact offsets form groups, whose order is known.
bool MemoryWidener::may_be_in_row(Instruction& access) const {
  const Value* pointer = llvm::getLoadStorePointerOperand(&access);
  llvm::Type* type = llvm::getLoadStoreType(&access);
  if (access.isVolatile() || access.isAtomic() || type->isVectorTy() || has_no_vector(access))
    return false;
  const auto size = static_cast<int64_t>(w_.layout().getTypeStoreSize(type));
  const Shape shape = w_.shape(pointer);
  const bool grouped = llvm::isa<llvm::StoreInst>(access) && shape.has_offsets() && shape.exact();
  return !grouped && llvm::isPowerOf2_64(static_cast<uint64_t>(size)) && size <= kMaxElement &&
         llvm::getLoadStoreAlignment(&access).value() >= static_cast<uint64_t>(size) &&
         shape.may_be_apart(kWidestStride * size) &&
         has_margins(pointer, {-kAround * size, kAround * size});
}

// Finds the loads, or the stores, that can be made together.
void MemoryWidener::find_rows(llvm::BasicBlock& block, unsigned opcode) {
  llvm::SmallVector<Row> open;
  for (Instruction& instruction : block) {
    const bool may_join = instruction.getOpcode() == opcode && may_be_in_row(instruction);
    Row* joined = nullptr;
    if (may_join) {
      auto* found = llvm::find_if(open, [&](Row& row) { return joins(row, instruction); });
      if (found != open.end()) joined = found;
    }
    llvm::erase_if(open, [&](const Row& row) {
      const bool stays = &row == joined || llvm::all_of(row.elements, [&](const auto& element) {
        return may_pass(*element.access, instruction);
      });
      if (!stays) finish_row(row);
      return !stays;
    });
    if (may_join && !joined) open.push_back({.elements = {{&instruction, 0}}});
  }
  for (const Row& row : open) finish_row(row);
}

// Adds the access to the row if it has the same form.
bool MemoryWidener::joins(Row& row, Instruction& access) {
  llvm::Type* type = llvm::getLoadStoreType(&access);
  if (type != llvm::getLoadStoreType(&row.first())) return false;
  const auto size = static_cast<int64_t>(w_.layout().getTypeStoreSize(type));
  const SplitAddress address(llvm::getLoadStorePointerOperand(&access), w_.layout());
  const SplitAddress start(llvm::getLoadStorePointerOperand(&row.first()), w_.layout());
  const bool is_new = row.elements.size() == 1;
  for (const bool by_index : {false, true}) {
    if (!is_new && by_index != (row.index != nullptr)) continue;
    if (by_index && (address.scale != size || !w_.shape(address.base).is_uniform())) continue;
    const auto bytes = distance(address, start, by_index);
    if (!bytes || *bytes % size != 0) continue;
    const int64_t offset = *bytes / size;
    const auto [low, high] = row.range();
    if (std::max(high, offset) - std::min(low, offset) >= kMaxRow) return false;
    const bool is_known =
        llvm::any_of(row.elements, [&](const auto& element) { return element.offset == offset; });
    if (is_known && llvm::isa<llvm::StoreInst>(access)) return false;
    row.elements.push_back({&access, offset});
    if (!by_index) return true;
    row.base = start.base;
    row.index = start.index;
    row.bytes = start.bytes;
    row.is_signed = start.is_signed;
    return true;
  }
  return false;
}

void MemoryWidener::finish_row(const Row& row) {
  if (row.elements.size() == 1) return;
  if (llvm::isa<llvm::LoadInst>(row.first())) {
    if (shares_blocks(row)) rows_[&row.first()] = row;
    return;
  }
  // Every element in between is stored, too.
  const auto [low, high] = row.range();
  if (high - low + 1 != static_cast<int64_t>(row.elements.size())) return;
  rows_[row.elements.back().access] = row;
  for (const Row::Element& element : llvm::ArrayRef(row.elements).drop_back())
    deferred_.insert(checked_cast<llvm::StoreInst>(element.access));
}

// Whether a block has several of the elements. Otherwise blocks read more than each element alone.
bool MemoryWidener::shares_blocks(const Row& row) {
  const auto size = static_cast<int64_t>(row_access(row).size);
  llvm::SmallVector<int64_t> offsets;
  for (const Row::Element& element : row.elements) offsets.push_back(element.offset * size);
  return cover(offsets, size, kBlockBytes, std::nullopt).size() < offsets.size();
}

MemoryWidener::Access MemoryWidener::row_access(const Row& row) {
  llvm::Type* type = llvm::getLoadStoreType(&row.first());
  return {type, w_.layout().getTypeStoreSize(type), llvm::getLoadStoreAlignment(&row.first()),
          false};
}

Value* MemoryWidener::all_of(llvm::ArrayRef<Value*> conditions) {
  Value* all = nullptr;
  for (Value* condition : conditions) {
    if (!condition) continue;
    if (w_.mask() && !llvm::isa<llvm::Constant>(condition)) condition = b_.CreateFreeze(condition);
    all = all ? b_.CreateAnd(all, condition) : condition;
  }
  return all;
}

MemoryWidener::Vectors MemoryWidener::either_row(Value* condition,
                                                 llvm::function_ref<Vectors()> then,
                                                 llvm::function_ref<Vectors()> otherwise) {
  std::pair<Vectors, llvm::BasicBlock*> ends[2];  // empty where nothing was built
  w_.branch(
      condition, [&] { ends[0] = {then(), b_.GetInsertBlock()}; },
      [&] { ends[1] = {otherwise(), b_.GetInsertBlock()}; });
  if (ends[1].first.empty()) return ends[0].first;
  if (ends[0].first.empty()) return ends[1].first;
  Vectors results;
  for (const auto& [i, value] : llvm::enumerate(ends[0].first)) {
    llvm::PHINode* either = b_.CreatePHI(value->getType(), 2);
    for (const auto& [values, block] : ends) either->addIncoming(values[i], block);
    results.push_back(either);
  }
  return results;
}

// All lanes must run, as an inactive one may have any address. Lanes that are neighbours, or all in
// one place, are served by one load.
void MemoryWidener::load_row(const Row& row) {
  const Access access = row_access(row);
  Value* pointer = llvm::getLoadStorePointerOperand(&row.first());
  auto each = [&](llvm::function_ref<Value*(const IndexedAddress&)> load) {
    Vectors results;
    for (const Row::Element& element : row.elements)
      results.push_back(load(row_address(row, element.offset)));
    return results;
  };
  auto blocks = [&] { return load_row_blocks(row); };
  auto gathers = [&] {
    return each([&](const IndexedAddress& address) { return gather(access, address); });
  };
  auto contiguous = [&] {
    return each([&](const IndexedAddress& address) {
      return load_contiguous(access, address_of_lane(address, 0));
    });
  };
  auto one_place = [&] {
    return each([&](const IndexedAddress& address) {
      return w_.splat(b_.CreateAlignedLoad(access.type, address_of_lane(address, 0), access.align));
    });
  };
  Value* in_range = stays_in_range(row);
  Vectors results;
  if (w_.shape(pointer).has_offsets()) {
    results = either_row(all_of({in_range, offsets_hold(row)}), blocks, gathers);
  } else {
    const IndexedAddress address = row_address(row, 0);
    Value* close =
        access.size % address.scale == 0 ? are_consecutive(address, access.size) : b_.getFalse();
    close = all_of({close, in_range});
    Value* equal = are_equal(address);
    Value* apart = all_of({b_.CreateNot(b_.CreateOr(close, equal)), in_range, w_.all_run()});
    results = either_row(apart, blocks, [&] {
      return either_row(close, contiguous, [&] { return either_row(equal, one_place, gathers); });
    });
  }
  for (const auto& [element, result] : llvm::zip_equal(row.elements, results))
    w_.set_vector(element.access, result);
}

// Lanes that are as far apart as expected; all must run unless their elements are within the
// margins of each other's.
Value* MemoryWidener::offsets_hold(const Row& row) {
  Value* pointer = llvm::getLoadStorePointerOperand(&row.first());
  const Access access = row_access(row);
  const auto around = kAround * static_cast<int64_t>(access.size);
  Span span = span_of(w_.shape(pointer), around);
  span.lowest -= around;
  const bool readable = llvm::isa<llvm::LoadInst>(row.first()) && has_margins(pointer, span);
  return all_of({w_.lanes(pointer).holds, readable ? nullptr : w_.all_run()});
}

// Whether no lane's index wraps around within its row. Null if there is no such index.
Value* MemoryWidener::stays_in_range(const Row& row) {
  if (!row.index) return nullptr;
  const auto [low, high] = row.range();
  const int64_t least = row.is_signed ? INT32_MIN : 0;
  const int64_t most = row.is_signed ? INT32_MAX : UINT32_MAX;
  Value* index = w_.frozen(w_.vector(row.index));
  auto bound = [&](int64_t value) {
    return llvm::ConstantInt::get(index->getType(), static_cast<uint32_t>(value));
  };
  const auto at_least = row.is_signed ? llvm::CmpInst::ICMP_SGE : llvm::CmpInst::ICMP_UGE;
  const auto at_most = row.is_signed ? llvm::CmpInst::ICMP_SLE : llvm::CmpInst::ICMP_ULE;
  return w_.all(b_.CreateAnd(b_.CreateICmp(at_least, index, bound(least - low)),
                             b_.CreateICmp(at_most, index, bound(most - high))));
}

// The addresses of all lanes.
MemoryWidener::Vectors MemoryWidener::lane_pointers(Value* pointer) {
  Vectors pointers;
  const Shape shape = w_.shape(pointer);
  for (unsigned lane = 0; lane < w_.width(); ++lane) {
    if (shape.has_offsets()) {
      pointers.push_back(
          b_.CreateConstGEP1_64(b_.getInt8Ty(), w_.first(pointer), shape.offset(lane)));
    } else if (shape.is_strided()) {
      pointers.push_back(lane == 0
                             ? w_.first(pointer)
                             : b_.CreateGEP(b_.getInt8Ty(), pointers.back(), w_.stride(pointer)));
    } else {
      pointers.push_back(b_.CreateExtractElement(w_.vector(pointer), lane));
    }
  }
  return pointers;
}

// How the next elements of a row are moved, if so many are left.
BlockForm MemoryWidener::form_of(uint64_t elements, int64_t size) const {
  const auto in_block =
      static_cast<unsigned>(std::min<uint64_t>(elements_in_block(size), elements));
  const unsigned lanes = lanes_in_register(w_.costs(), size, in_block, w_.width());
  const auto blocks =
      static_cast<unsigned>(std::min<uint64_t>(elements / in_block, lanes / in_block));
  return {in_block, blocks, lanes};
}

// The vectors of the row's elements. What is read behind the last one is within the margins.
MemoryWidener::Vectors MemoryWidener::load_row_blocks(const Row& row) {
  const Access access = row_access(row);
  const auto size = static_cast<int64_t>(access.size);
  const auto [low, high] = row.range();
  const Vectors pointers = lane_pointers(llvm::getLoadStorePointerOperand(&row.first()));
  prefetch_rows(row, pointers);
  Vectors results(row.elements.size());
  for (int64_t start = low; start <= high;) {
    const auto left = static_cast<uint64_t>(high - start + 1);
    const uint64_t whole = left / elements_in_block(size) * elements_in_block(size);
    const BlockForm form = form_of(whole ? llvm::bit_floor(whole) : llvm::PowerOf2Ceil(left), size);
    const Vectors columns =
        load_columns(b_, access.type, form, pointers, start * size, llvm::Align(access.size));
    for (const auto& [i, element] : llvm::enumerate(row.elements)) {
      const int64_t place = element.offset - start;
      if (place >= 0 && place < static_cast<int64_t>(columns.size()))
        results[i] = columns[static_cast<size_t>(place)];
    }
    start += static_cast<int64_t>(columns.size());
  }
  return results;
}

// An index of 32 bits wraps around here as it does in the program.
IndexedAddress MemoryWidener::row_address(const Row& row, int64_t offset) {
  const auto size = static_cast<int64_t>(row_access(row).size);
  if (!row.index) {
    IndexedAddress address = frozen_address(llvm::getLoadStorePointerOperand(&row.first()));
    address.root = b_.CreateConstGEP1_64(b_.getInt8Ty(), address.root, offset * size);
    return address;
  }
  Value* index = w_.frozen(w_.vector(row.index));
  Value* step = llvm::ConstantInt::get(index->getType(), static_cast<uint32_t>(offset));
  Value* root = b_.CreateConstGEP1_64(b_.getInt8Ty(), w_.first(row.base), row.bytes);
  return {root, b_.CreateAdd(index, step), row.is_signed, static_cast<uint64_t>(size)};
}

// Whether each lane's row ends before that of the next lane starts.
Value* MemoryWidener::lanes_ascend(const Row& row) {
  const Access access = row_access(row);
  const auto [low, high] = row.range();
  const uint64_t bytes = static_cast<uint64_t>(high - low + 1) * access.size;
  Value* pointer = llvm::getLoadStorePointerOperand(&row.first());
  const Shape shape = w_.shape(pointer);
  if (shape.has_offsets()) {
    bool ascend = true;
    for (unsigned lane = 1; lane < w_.width(); ++lane)
      ascend &= shape.offset(lane) - shape.offset(lane - 1) >= static_cast<int64_t>(bytes);
    return ascend ? nullptr : b_.getFalse();
  }
  if (shape.is_strided()) return b_.CreateICmpSGE(w_.stride(pointer), b_.getInt64(bytes));
  Value* places = b_.CreatePtrToInt(w_.vector(pointer), w_.wide_type(b_.getInt64Ty()));
  Value* ends = b_.CreateAdd(places, llvm::ConstantInt::get(places->getType(), bytes));
  auto lanes_from = [&](unsigned lane, Value* vector) {
    return b_.CreateShuffleVector(vector, llvm::createSequentialMask(lane, w_.width() - 1, 0));
  };
  return b_.CreateAndReduce(b_.CreateICmpSGE(lanes_from(1, places), lanes_from(0, ends)));
}

// The order of the lanes' stores only matters where their rows overlap.
void MemoryWidener::store_row(const Row& row) {
  Value* condition = w_.shape(llvm::getLoadStorePointerOperand(&row.first())).has_offsets()
                         ? offsets_hold(row)
                         : w_.all_run();
  condition = all_of({condition, stays_in_range(row), lanes_ascend(row)});
  w_.branch(
      condition, [&] { store_row_blocks(row); },
      [&] {
        for (const Row::Element& element : row.elements)
          store_alone(*checked_cast<llvm::StoreInst>(element.access));
      });
}

void MemoryWidener::store_row_blocks(const Row& row) {
  const Access access = row_access(row);
  const auto size = static_cast<int64_t>(access.size);
  const auto [low, high] = row.range();
  const Vectors pointers = lane_pointers(llvm::getLoadStorePointerOperand(&row.first()));
  Vectors values(row.elements.size());
  for (const Row::Element& element : row.elements) {
    auto* store = checked_cast<llvm::StoreInst>(element.access);
    values[static_cast<size_t>(element.offset - low)] = w_.vector(store->getValueOperand());
  }
  const bool is_nontemporal = llvm::all_of(row.elements, [](const Row::Element& element) {
    return cpu::is_nontemporal(*checked_cast<llvm::StoreInst>(element.access));
  });
  Value* past_caches = is_nontemporal
                           ? lines_pass_caches(llvm::getLoadStorePointerOperand(&row.first()),
                                               low * size, values.size(), size)
                           : nullptr;
  past_caches ? store_lines(past_caches, values, pointers, low * size, access.align)
              : store_columns(b_, values, pointers, low * size, access.align);
}

}  // namespace metal::cpu
