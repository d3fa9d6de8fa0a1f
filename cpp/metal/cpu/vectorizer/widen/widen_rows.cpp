// Widens loads of neighbouring elements by lanes that are far apart: every lane reads its elements
// as blocks, which are then transposed. Programs in which a thread reads a row have such loads.

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/vectorizer/memory/separate_memory.h"
#include "metal/cpu/vectorizer/widen/blocks.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr int64_t kMaxRow = 16;      // elements from the first to the last of a row
constexpr int64_t kMaxElement = 8;   // bytes

// An address, split into what those of neighbours share and a constant number of elements. The
// constant is part of the address, or of an index of 32 bits, where sums may wrap around.
struct SplitAddress {
  Value* root;
  int64_t bytes;
  // If the root has such an index:
  Value* base = nullptr;
  Value* term = nullptr;  // the index without the constant
  int64_t steps = 0;
  Value* index = nullptr;
  bool is_signed = false;
  int64_t scale = 0;
};

void split_index(SplitAddress& address, const llvm::DataLayout& layout) {
  using namespace llvm::PatternMatch;
  auto* place = llvm::dyn_cast<llvm::GEPOperator>(address.root);
  if (!place || place->getNumIndices() != 1) return;
  auto* extension = llvm::dyn_cast<llvm::CastInst>(place->getOperand(1));
  if (!extension || !llvm::isa<llvm::ZExtInst, llvm::SExtInst>(extension) ||
      !extension->getSrcTy()->isIntegerTy(32))
    return;
  address.base = place->getPointerOperand();
  address.index = address.term = extension->getOperand(0);
  address.is_signed = llvm::isa<llvm::SExtInst>(extension);
  address.scale = static_cast<int64_t>(layout.getTypeAllocSize(place->getSourceElementType()));
  const llvm::APInt* constant = nullptr;
  while (match(address.term, m_Add(m_Value(address.term), m_APInt(constant))))
    address.steps = static_cast<int32_t>(address.steps + constant->getSExtValue());
}

// The distance in bytes between two addresses in the same form, if it is constant as long as no
// index wraps around.
std::optional<int64_t> distance(const SplitAddress& to, const SplitAddress& from, bool by_index) {
  if (!by_index) return to.root == from.root ? std::optional(to.bytes - from.bytes) : std::nullopt;
  const bool same = to.base && to.base == from.base && to.term == from.term &&
                    to.is_signed == from.is_signed && to.scale == from.scale &&
                    to.bytes == from.bytes;
  return same ? std::optional((to.steps - from.steps) * to.scale) : std::nullopt;
}

bool writes(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return instruction.mayWriteToMemory() &&
         !(call && call->getIntrinsicID() == llvm::Intrinsic::prefetch);
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

// Whether the lanes' elements are so far apart that each lane reads blocks of its own.
bool MemoryWidener::has_rows(const llvm::LoadInst& load) const {
  const Value* pointer = load.getPointerOperand();
  const auto size = static_cast<int64_t>(w_.layout().getTypeStoreSize(load.getType()));
  return load.isSimple() && !load.getType()->isVectorTy() && llvm::isPowerOf2_64(size) &&
         size <= kMaxElement && size == static_cast<int64_t>(load.getAlign().value()) &&
         w_.shape(pointer).may_be_apart(kWidestStride * size) &&
         has_margins(pointer, {-kMaxRow * size, kMaxRow * size});
}

// All elements of a row are read at the first load. So nothing that may write to them is between
// that and the other loads.
void MemoryWidener::find_rows(llvm::BasicBlock& block) {
  struct Candidate {
    SplitAddress first;
    std::optional<bool> by_index;  // decided by the second load
    Row row;
  };
  llvm::SmallVector<Candidate> open;
  auto finish = [&](Candidate& candidate) {
    Row& row = candidate.row;
    if (row.elements.size() > 1) rows_[row.elements[0].load] = row;
  };
  auto join = [&](Candidate& candidate, llvm::LoadInst& load, const SplitAddress& address) {
    Row& row = candidate.row;
    const llvm::Type* type = row.elements[0].load->getType();
    const auto size = static_cast<int64_t>(w_.layout().getTypeStoreSize(load.getType()));
    if (load.getType() != type) return false;
    for (const bool by_index : {false, true}) {
      const auto bytes = distance(address, candidate.first, by_index);
      if (!bytes || *bytes % size != 0 || candidate.by_index.value_or(by_index) != by_index ||
          (by_index && (address.scale != size || !w_.shape(address.base).is_uniform())))
        continue;
      const int64_t offset = *bytes / size;
      const auto [low, high] = row.range();
      if (std::max(high, offset) - std::min(low, offset) >= kMaxRow) return false;
      row.elements.push_back({&load, offset});
      candidate.by_index = by_index;
      if (by_index) {
        row.base = address.base;
        row.bytes = address.bytes;
        row.index = candidate.first.index;
        row.is_signed = address.is_signed;
      }
      return true;
    }
    return false;
  };
  rows_.clear();
  for (Instruction& instruction : block) {
    if (writes(instruction)) {
      llvm::erase_if(open, [&](Candidate& candidate) {
        const bool separate = llvm::all_of(candidate.row.elements, [&](const auto& element) {
          return are_separate(*element.load, instruction);
        });
        if (!separate) finish(candidate);
        return !separate;
      });
      continue;
    }
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load || !has_rows(*load)) continue;
    const auto [root, bytes] = split_constant(load->getPointerOperand(), w_.layout());
    SplitAddress address{root, bytes};
    split_index(address, w_.layout());
    if (llvm::none_of(open, [&](Candidate& candidate) { return join(candidate, *load, address); }))
      open.push_back({address, std::nullopt, {{{load, 0}}}});
  }
  for (Candidate& candidate : open) finish(candidate);
}

void MemoryWidener::load_row(const Row& row) {
  llvm::SmallVector<Value*> blocks, singles;
  llvm::BasicBlock* ends[2];
  Value* condition = pays_off(row);
  w_.branch(
      condition,
      [&] {
        blocks = load_row_blocks(row);
        ends[0] = b_.GetInsertBlock();
      },
      [&] {
        for (const Row::Element& element : row.elements)
          singles.push_back(load_row_element(row, element));
        ends[1] = b_.GetInsertBlock();
      });
  for (const auto& [i, element] : llvm::enumerate(row.elements)) {
    Value* result = blocks[i];
    if (condition) {
      llvm::PHINode* either = b_.CreatePHI(result->getType(), 2);
      either->addIncoming(blocks[i], ends[0]);
      either->addIncoming(singles[i], ends[1]);
      result = either;
    }
    w_.set_vector(element.load, result);
  }
}

// Whether all lanes may read their blocks, and these are not those of their neighbours. Null if that
// is certain.
Value* MemoryWidener::pays_off(const Row& row) {
  llvm::LoadInst& first = *row.elements[0].load;
  Value* pointer = first.getPointerOperand();
  const Shape shape = w_.shape(pointer);
  const uint64_t size = w_.layout().getTypeStoreSize(first.getType());
  llvm::SmallVector<Value*> conditions{stays_in_range(row)};
  const Span span = shape.has_offsets() ? span_of(shape, kMaxRow * static_cast<int64_t>(size))
                                        : Span{0, 0};
  if (!shape.has_offsets() || !has_margins(pointer, span)) conditions.push_back(w_.all_run());
  if (shape.has_offsets()) {
    conditions.push_back(w_.lanes(pointer).holds);
  } else if (shape.is_strided()) {
    Value* stride = w_.stride(pointer);
    conditions.push_back(b_.CreateICmpNE(stride, b_.getInt64(size)));
    conditions.push_back(b_.CreateICmpNE(stride, b_.getInt64(0)));
  } else {
    const IndexedAddress address = frozen_address(pointer);
    if (size % address.scale == 0) conditions.push_back(b_.CreateNot(are_consecutive(address, size)));
    conditions.push_back(b_.CreateNot(are_equal(address)));
  }
  Value* all = nullptr;
  for (Value* condition : conditions) {
    if (!condition) continue;
    if (w_.mask()) condition = b_.CreateFreeze(condition);
    all = all ? b_.CreateAnd(all, condition) : condition;
  }
  return all;
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
llvm::SmallVector<Value*> MemoryWidener::lane_pointers(Value* pointer) {
  llvm::SmallVector<Value*> pointers;
  const Shape shape = w_.shape(pointer);
  for (unsigned lane = 0; lane < w_.width(); ++lane) {
    if (shape.has_offsets()) {
      pointers.push_back(
          b_.CreateConstGEP1_64(b_.getInt8Ty(), w_.first(pointer), shape.offset(lane)));
    } else if (shape.is_strided()) {
      pointers.push_back(lane == 0 ? w_.first(pointer)
                                   : b_.CreateGEP(b_.getInt8Ty(), pointers.back(),
                                                  w_.stride(pointer)));
    } else {
      pointers.push_back(b_.CreateExtractElement(w_.vector(pointer), lane));
    }
  }
  return pointers;
}

// The vectors of the row's elements.
llvm::SmallVector<Value*> MemoryWidener::load_row_blocks(const Row& row) {
  llvm::LoadInst& first = *row.elements[0].load;
  const auto size = static_cast<int64_t>(w_.layout().getTypeStoreSize(first.getType()));
  const auto [low, high] = row.range();
  const auto in_block = static_cast<unsigned>(std::min<uint64_t>(
      elements_in_block(size), llvm::PowerOf2Ceil(static_cast<uint64_t>(high - low + 1))));
  const uint64_t in_register =
      w_.costs().getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector) / 8 / size;
  const unsigned lanes = std::max(
      in_block, static_cast<unsigned>(std::min<uint64_t>(w_.width(), in_register)));
  const auto pointers = lane_pointers(first.getPointerOperand());
  auto* type = llvm::FixedVectorType::get(first.getType(), in_block);
  llvm::SmallVector<Value*> results(row.elements.size());
  for (int64_t start = low; start <= high; start += in_block) {
    llvm::SmallVector<llvm::SmallVector<Value*>> columns(in_block);
    for (unsigned lane = 0; lane < w_.width(); lane += lanes) {
      llvm::SmallVector<Value*> rows;
      for (unsigned i = 0; i < in_block; ++i) {
        llvm::SmallVector<Value*> parts;
        for (unsigned part = lane + i; part < lane + lanes; part += in_block) {
          Value* from = b_.CreateConstGEP1_64(b_.getInt8Ty(), pointers[part], start * size);
          parts.push_back(b_.CreateAlignedLoad(type, from, first.getAlign()));
        }
        rows.push_back(llvm::concatenateVectors(b_, parts));
      }
      for (const auto& [i, column] : llvm::enumerate(transpose(b_, rows)))
        columns[i].push_back(column);
    }
    for (const auto& [i, element] : llvm::enumerate(row.elements)) {
      const int64_t place = element.offset - start;
      if (place >= 0 && place < static_cast<int64_t>(in_block))
        results[i] = llvm::concatenateVectors(b_, columns[static_cast<size_t>(place)]);
    }
  }
  return results;
}

// An index of 32 bits wraps around here as it does in the program.
IndexedAddress MemoryWidener::row_address(const Row& row, int64_t offset) {
  llvm::LoadInst& first = *row.elements[0].load;
  const auto size = static_cast<int64_t>(w_.layout().getTypeStoreSize(first.getType()));
  if (!row.index) {
    IndexedAddress address = frozen_address(first.getPointerOperand());
    address.root = b_.CreateConstGEP1_64(b_.getInt8Ty(), address.root, offset * size);
    return address;
  }
  Value* index = w_.frozen(w_.vector(row.index));
  Value* step = llvm::ConstantInt::get(index->getType(), static_cast<uint32_t>(offset));
  Value* root = b_.CreateConstGEP1_64(b_.getInt8Ty(), w_.first(row.base), row.bytes);
  return {root, b_.CreateAdd(index, step), row.is_signed, static_cast<uint64_t>(size)};
}

Value* MemoryWidener::load_row_element(const Row& row, const Row::Element& element) {
  Value* pointer = row.elements[0].load->getPointerOperand();
  const uint64_t size = w_.layout().getTypeStoreSize(element.load->getType());
  const Access access{element.load->getType(), size, element.load->getAlign(), false};
  const IndexedAddress address = row_address(row, element.offset);
  return load_varying(access, pointer, address, [&] { return gather(access, address); });
}

}  // namespace metal::cpu
