// Widens stores to addresses with offsets that are made together, as those to the members of a
// struct or to a run of elements.

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/vectorizer/memory/nontemporal_stores.h"
#include "metal/cpu/vectorizer/memory/separate_memory.h"
#include "metal/cpu/vectorizer/widen/blocks.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"

namespace metal::cpu {

using llvm::Value;

namespace {

// The smallest distance in bytes between two lanes.
int64_t least_distance(const Shape& shape) {
  Shape::Offsets offsets = shape.offsets();
  llvm::sort(offsets);
  int64_t least = INT64_MAX;
  for (size_t i = 1; i < offsets.size(); ++i) least = std::min(least, offsets[i] - offsets[i - 1]);
  return least;
}

}  // namespace

// Finds stores that differ by constants and in which no lane's memory overlaps that of another, so
// that their order does not matter. Those to contiguous memory form a group.
void MemoryWidener::find_store_groups(llvm::BasicBlock& block) {
  llvm::SmallVector<Member, 8> members;
  Value* common_root = nullptr;
  auto finish = [&] {
    make_store_groups(members);
    members.clear();
  };
  for (llvm::Instruction& instruction : block) {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (!store) {
      // The stores move behind it.
      const bool separate = llvm::all_of(
          members, [&](const Member& member) { return are_separate(*member.store, instruction); });
      if (instruction.mayReadOrWriteMemory() && !separate) finish();
      continue;
    }
    const Shape shape = w_.shape(store->getPointerOperand());
    llvm::Type* type = store->getValueOperand()->getType();
    const auto size = static_cast<int64_t>(w_.layout().getTypeStoreSize(type));
    const bool scattered = store->isSimple() && shape.has_offsets() && !shape.is_uniform() &&
                           shape.exact() && stride(shape) != size && kBlockBytes % size == 0 &&
                           !run_of_lanes(shape, static_cast<uint64_t>(size));
    const int64_t distance = scattered ? least_distance(shape) : 0;
    if (distance < size) {
      finish();
      continue;
    }
    const auto [root, offset] = split_constant(store->getPointerOperand(), w_.layout());
    int64_t low = offset, high = offset;
    bool joins = root == common_root;
    for (const Member& member : members) {
      low = std::min(low, member.offset);
      high = std::max(high, member.offset);
      joins &= member.offset != offset && type == member.store->getValueOperand()->getType() &&
               shape.offsets() == w_.shape(member.store->getPointerOperand()).offsets();
    }
    if (!joins || high + size - low > distance) finish();
    common_root = root;
    members.push_back({store, offset});
  }
  finish();
}

void MemoryWidener::make_store_groups(llvm::MutableArrayRef<Member> members) {
  llvm::sort(members, [](const Member& a, const Member& b) { return a.offset < b.offset; });
  for (size_t begin = 0, end; begin < members.size(); begin = end) {
    llvm::StoreInst* last = members[begin].store;
    const auto size =
        static_cast<int64_t>(w_.layout().getTypeStoreSize(last->getValueOperand()->getType()));
    StoreGroup group;
    for (end = begin; end < members.size(); ++end) {
      if (end > begin && members[end].offset != members[end - 1].offset + size) break;
      group.push_back(members[end].store);
      if (last->comesBefore(group.back())) last = group.back();
    }
    for (llvm::StoreInst* store : group) {
      if (store != last) deferred_.insert(store);
    }
    groups_[last] = group;
  }
}

void MemoryWidener::store_group(const StoreGroup& stores) {
  const Shape shape = w_.shape(stores[0]->getPointerOperand());
  llvm::Type* type = stores[0]->getValueOperand()->getType();
  const auto size = static_cast<int64_t>(w_.layout().getTypeStoreSize(type));
  const auto members = static_cast<unsigned>(stores.size());
  Value* pointer = stores[0]->getPointerOperand();
  const llvm::Align align = stores[0]->getAlign();
  const bool nontemporal =
      llvm::all_of(stores, [](const auto* store) { return is_nontemporal(*store); });
  auto together = [&] {
    if (members == 1) return store_runs(stores, shape);
    Vectors parts;
    for (llvm::StoreInst* store : stores) parts.push_back(w_.vector(store->getValueOperand()));
    if (stride(shape) == size * members) {
      Value* all = llvm::concatenateVectors(b_, parts);
      const Access access{type, static_cast<uint64_t>(size), align, false, nontemporal};
      return store_block(
          access, w_.first(pointer),
          b_.CreateShuffleVector(all, llvm::createInterleaveMask(w_.width(), members)));
    }
    Value* past_caches = nontemporal ? lines_pass_caches(pointer, 0, members, size) : nullptr;
    past_caches ? store_lines(past_caches, parts, lane_pointers(pointer), 0, align)
                : store_runs(stores, shape);
  };
  w_.branch(w_.all_run(), together, [&] {
    for (llvm::StoreInst* store : stores) {
      const Access access{type, static_cast<uint64_t>(size), store->getAlign(), false};
      scatter(access, store->getPointerOperand(), w_.vector(store->getValueOperand()));
    }
  });
}

// If many groups of the block have the same form, a function writes them, as the code is long.
void MemoryWidener::store_runs(const StoreGroup& stores, const Shape& shape) {
  llvm::SmallVector<Value*> operands{w_.first(stores[0]->getPointerOperand())};
  for (llvm::StoreInst* store : stores) operands.push_back(w_.vector(store->getValueOperand()));
  const llvm::Align align = stores[0]->getAlign();
  if (count_alike(stores, shape) < kManyAlike) return write_runs(b_, operands, shape, align);
  llvm::SmallVector<llvm::Type*> types;
  for (const Value* operand : operands) types.push_back(operand->getType());
  std::string name;
  llvm::raw_string_ostream text(name);
  text << "simd.store.runs";
  for (const llvm::Type* type : types) text << "." << *type;
  text << "." << align.value();
  for (int64_t offset : shape.offsets()) text << "." << offset;
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), types, false);
  b_.CreateCall(
      w_.helper(name, type,
                [&](llvm::Function& code) {
                  code.setMemoryEffects(llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::Mod));
                  code.addParamAttr(0, llvm::Attribute::NoCapture);
                  llvm::IRBuilder<> b(llvm::BasicBlock::Create(code.getContext(), "entry", &code));
                  llvm::SmallVector<Value*> arguments;
                  for (llvm::Argument& argument : code.args()) arguments.push_back(&argument);
                  write_runs(b, arguments, shape, align);
                  b.CreateRetVoid();
                }),
      operands);
}

size_t MemoryWidener::count_alike(const StoreGroup& stores, const Shape& shape) const {
  return llvm::count_if(groups_, [&](const auto& group) {
    const StoreGroup& others = group.second;
    return others.size() == stores.size() &&
           w_.shape(others[0]->getPointerOperand()).offsets() == shape.offsets();
  });
}

// Stores the lanes' vectors. Where each lane fills blocks of its own, these are transposed.
void MemoryWidener::write_runs(llvm::IRBuilder<>& b, llvm::ArrayRef<Value*> operands,
                               const Shape& shape, llvm::Align align) const {
  const auto values = operands.drop_front();
  llvm::Type* element = values[0]->getType()->getScalarType();
  const auto size = static_cast<int64_t>(w_.layout().getTypeStoreSize(element));
  const unsigned in_block = elements_in_block(size);
  if (in_block == 1 || values.size() < in_block) return write_in_order(b, operands, shape, align);
  Vectors pointers;
  for (const int64_t offset : shape.offsets())
    pointers.push_back(b.CreateConstGEP1_64(b.getInt8Ty(), operands[0], offset));
  store_columns(b, values, pointers, 0, align);
}

// Stores a block at a time, as far as memory is contiguous.
void MemoryWidener::write_in_order(llvm::IRBuilder<>& b, llvm::ArrayRef<Value*> operands,
                                   const Shape& shape, llvm::Align align) const {
  const auto* lanes = checked_cast<llvm::VectorType>(operands[1]->getType());
  const auto size = static_cast<int64_t>(w_.layout().getTypeStoreSize(lanes->getElementType()));
  const unsigned in_block = elements_in_block(size);
  llvm::SmallVector<std::pair<int64_t, BlockElement>> elements;
  for (const auto& [member, values] : llvm::enumerate(operands.drop_front())) {
    Value* block = nullptr;
    for (unsigned lane = 0; lane < w_.width(); ++lane) {
      if (lane % in_block == 0)
        block = b.CreateShuffleVector(values, llvm::createSequentialMask(lane, in_block, 0));
      elements.push_back({shape.offset(lane) + size * static_cast<int64_t>(member),
                          {block, static_cast<int>(lane % in_block)}});
    }
  }
  llvm::sort(elements, llvm::less_first());
  for (size_t begin = 0, end; begin < elements.size(); begin = end) {
    llvm::SmallVector<BlockElement> piece;
    for (end = begin; end < elements.size() && piece.size() < in_block; ++end) {
      if (end > begin && elements[end].first != elements[end - 1].first + size) break;
      piece.push_back(elements[end].second);
    }
    b.CreateAlignedStore(assemble(b, piece),
                         b.CreateConstGEP1_64(b.getInt8Ty(), operands[0], elements[begin].first),
                         align);
  }
}

}  // namespace metal::cpu
