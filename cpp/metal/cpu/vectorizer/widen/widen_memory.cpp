#include "metal/cpu/vectorizer/widen/widen_memory.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/cache_line.h"
#include "metal/cpu/codegen/group_access.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/memory/float_atomics.h"
#include "metal/cpu/vectorizer/memory/nontemporal_stores.h"
#include "metal/cpu/vectorizer/widen/blocks.h"
#include "metal/cpu/vectorizer/widen/lane_by_lane.h"

namespace metal::cpu {

using llvm::Value;

namespace {

constexpr unsigned kStridedBlock = 4;  // lanes whose offsets stay in registers

}  // namespace

MemoryWidener::MemoryWidener(Widener& widener, llvm::Function& body)
    : w_(widener),
      b_(widener.builder()),
      matrix_elements_(widener, body),
      lane_loads_(widener, body),
      tables_(body),
      takes_locks_(adds_floats_only(body)) {}

Span MemoryWidener::span_of(const Shape& shape, int64_t size) {
  Span span{0, size};
  for (int64_t offset : shape.offsets())
    span = {std::min(span.lowest, offset), std::max(span.end, offset + size)};
  return span;
}

bool MemoryWidener::may_read(Value* pointer, const Shape& shape, Span span) const {
  if (has_margins(pointer, span)) return true;
  // The lanes' copies of one element of a private variable can all be read.
  const auto distance = copy_distance(pointer);
  return distance && shape.has_offsets() && !shape.is_uniform() && stride(shape) == *distance;
}

// Freezes the index, as the values of inactive lanes are compared as well.
IndexedAddress MemoryWidener::frozen_address(Value* pointer) {
  IndexedAddress address = w_.address(pointer);
  address.index = w_.frozen(address.index);
  return address;
}

void MemoryWidener::load(llvm::LoadInst& load) {
  if (matrix_elements_.load(load)) return;
  const auto row = rows_.find(&load);
  if (row != rows_.end()) load_row(row->second);
  if (w_.has_vector(&load)) return;
  Value* pointer = load.getPointerOperand();
  const Shape shape = w_.shape(pointer);
  if (shape.is_uniform()) {
    auto* copy = checked_cast<llvm::LoadInst>(load.clone());
    copy->setOperand(0, w_.first(pointer));
    w_.set_first(&load, b_.Insert(copy, load.getName()));
    return;
  }
  if (load.isAtomic()) {
    const LaneAddresses addresses = lane_addresses(w_, w_.address(pointer));
    llvm::AllocaInst* results = w_.scratch(w_.wide_type(load.getType()), "loaded");
    w_.for_each_lane([&](Value* lane) {
      auto* copy = checked_cast<llvm::LoadInst>(load.clone());
      copy->setOperand(0, addresses.at(b_, lane));
      b_.CreateStore(b_.Insert(copy), b_.CreateGEP(load.getType(), results, lane));
    });
    w_.set_vector(&load, b_.CreateLoad(w_.wide_type(load.getType()), results));
    return;
  }
  const Access access{load.getType(), w_.layout().getTypeStoreSize(load.getType()), load.getAlign(),
                      load.isVolatile()};
  if (shape.is_strided()) {
    w_.set_vector(&load, load_strided(access, pointer));
    return;
  }
  auto varying = [&] { return load_varying(access, pointer); };
  auto offsets = [&] { return load_offsets(access, pointer, shape); };
  w_.set_vector(
      &load, shape.is_varying() ? varying() : w_.either(w_.lanes(pointer).holds, offsets, varying));
}

Value* MemoryWidener::load_contiguous(const Access& access, Value* first) {
  return b_.CreateAlignedLoad(w_.wide_type(access.type), first, access.align, access.is_volatile);
}

Value* MemoryWidener::address_of_lane(const IndexedAddress& address, unsigned lane) {
  return address_at(address, b_.CreateExtractElement(address.index, lane));
}

Value* MemoryWidener::address_at(const IndexedAddress& address, Value* index) {
  llvm::Type* wide = b_.getInt64Ty();
  index = address.is_signed ? b_.CreateSExt(index, wide) : b_.CreateZExt(index, wide);
  return b_.CreateGEP(llvm::ArrayType::get(b_.getInt8Ty(), address.scale), address.root, index);
}

// Whether the index grows by one element, or by `size` bytes, from lane to lane.
Value* MemoryWidener::are_consecutive(const IndexedAddress& address, uint64_t size) {
  const uint64_t step = size % address.scale == 0 ? size / address.scale : 1;
  llvm::Type* type = address.index->getType()->getScalarType();
  Value* first = b_.CreateExtractElement(address.index, uint64_t{0});
  Value* fits =
      b_.CreateICmpEQ(b_.CreateSub(address.index, w_.splat(first)), w_.sequence(type, step));
  if (w_.mask()) fits = b_.CreateOr(fits, b_.CreateNot(w_.mask()));
  if (!type->isIntegerTy(32)) return w_.all(fits);
  // 32-bit indices may wrap around before the last lane.
  const uint64_t largest = address.is_signed ? INT32_MAX : UINT32_MAX;
  Value* bound = b_.getInt32(static_cast<uint32_t>(largest - step * (w_.width() - 1)));
  return b_.CreateAnd(w_.all(fits), address.is_signed ? b_.CreateICmpSLE(first, bound)
                                                      : b_.CreateICmpULE(first, bound));
}

Value* MemoryWidener::are_equal(const IndexedAddress& address) {
  Value* first = w_.splat(b_.CreateExtractElement(address.index, uint64_t{0}));
  Value* fits = b_.CreateICmpEQ(address.index, first);
  if (w_.mask()) fits = b_.CreateOr(fits, b_.CreateNot(w_.mask()));
  return w_.all(fits);
}

Value* MemoryWidener::load_varying(const Access& access, Value* pointer) {
  const IndexedAddress address = frozen_address(pointer);
  if (Value* found = load_from_table(access, pointer, address)) return found;
  const uint64_t lane_step = access.size % address.scale == 0 ? access.size : address.scale;
  const bool blocks = lane_step % access.size == 0 &&
                      lane_step / access.size <= static_cast<uint64_t>(kWidestStride);
  auto each_lane = [&] {
    return may_gather_more(access, pointer) ? gather_more(access, address)
                                            : gather(access, address);
  };
  if (may_be_close(access, pointer, address)) return load_close(access, address, each_lane);
  auto scattered = [&]() -> Value* {
    return w_.either(
        are_equal(address),
        [&]() -> Value* {
          Value* one = b_.CreateAlignedLoad(access.type, address_of_lane(address, 0), access.align,
                                            access.is_volatile);
          return w_.splat(one);
        },
        each_lane);
  };
  const Span span{0, static_cast<int64_t>(lane_step * w_.width())};
  const bool exact = lane_step == access.size && !w_.mask();
  if (!blocks || (!exact && !has_margins(pointer, span))) return scattered();
  return w_.either(
      are_consecutive(address, access.size),
      [&]() -> Value* {
        const auto ratio = static_cast<unsigned>(lane_step / access.size);
        Value* block =
            b_.CreateAlignedLoad(llvm::FixedVectorType::get(access.type, w_.width() * ratio),
                                 address_of_lane(address, 0), access.align, access.is_volatile);
        if (ratio == 1) return block;
        return b_.CreateShuffleVector(block, llvm::createStrideMask(0, ratio, w_.width()));
      },
      scattered);
}

// Tests the stride at run time: contiguous elements, one element for all lanes, or a gather.
Value* MemoryWidener::load_strided(const Access& access, Value* pointer) {
  Value* first = w_.first(pointer);
  Value* stride = w_.stride(pointer);
  auto each_lane = [&] { return gather_steps(access, pointer); };
  if (w_.mask() && !has_margins(pointer, {0, static_cast<int64_t>(access.size * w_.width())}))
    return each_lane();
  auto one_place = [&]() -> Value* {
    return w_.splat(b_.CreateAlignedLoad(access.type, first, access.align, access.is_volatile));
  };
  return w_.either(
      b_.CreateICmpEQ(stride, b_.getInt64(access.size)),
      [&] { return load_contiguous(access, first); },
      [&] { return w_.either(b_.CreateICmpEQ(stride, b_.getInt64(0)), one_place, each_lane); });
}

Value* MemoryWidener::gather(const Access& access, Value* pointer) {
  return gather(access, w_.address(pointer));
}

Value* MemoryWidener::gather(const Access& access, const IndexedAddress& address) {
  if (!w_.costs().isLegalMaskedGather(w_.wide_type(access.type), access.align))
    return load_lanes(w_, address, access.type);
  return masked_gather(access, addresses(address));
}

// Processors gather elements of 32 bits, and none that are smaller. Those are read with what lies
// behind them, if that can be read.
bool MemoryWidener::may_gather_more(const Access& access, const Value* pointer) const {
  return access.size < sizeof(uint32_t) && fits_in_word(access) &&
         has_margins(pointer, {0, sizeof(uint32_t)}) &&
         w_.costs().isLegalMaskedGather(w_.wide_type(b_.getInt32Ty()), access.align);
}

Value* MemoryWidener::gather_more(const Access& access, const IndexedAddress& address) {
  const Access more{b_.getInt32Ty(), sizeof(uint32_t), access.align, false};
  return elements_of_words(access, gather(more, address));
}

bool MemoryWidener::fits_in_word(const Access& access) {
  return !access.is_volatile && access.type->isSingleValueType() && !access.type->isVectorTy() &&
         access.size <= sizeof(uint32_t);
}

Value* MemoryWidener::elements_of_words(const Access& access, Value* words) {
  llvm::Type* bits = w_.wide_type(b_.getIntNTy(static_cast<unsigned>(access.size) * 8));
  return b_.CreateBitCast(b_.CreateTrunc(words, bits), w_.wide_type(access.type));
}

// Gathers and scatters take signed indices of 32 bits, and more of them at once than of 64 bits. An
// unsigned index is moved down by half of its range, and the root up.
Value* MemoryWidener::addresses(const IndexedAddress& address) {
  Value* root = address.root;
  Value* index = address.index;
  if (!address.is_signed && index->getType()->getScalarType()->isIntegerTy(32)) {
    constexpr auto kHalf = uint64_t{1} << 31;
    root = b_.CreateGEP(b_.getInt8Ty(), root, b_.getInt64(kHalf * address.scale));
    index = b_.CreateXor(index, llvm::ConstantInt::get(index->getType(), kHalf));
  }
  index = b_.CreateSExt(index, w_.wide_type(b_.getInt64Ty()));
  return b_.CreateGEP(llvm::ArrayType::get(b_.getInt8Ty(), address.scale), root, index);
}

Value* MemoryWidener::masked_gather(const Access& access, Value* pointers) {
  return b_.CreateMaskedGather(w_.wide_type(access.type), pointers, access.align, w_.mask_or_all());
}

// A gather with 32-bit offsets is about twice as fast. Without gathers, a loop keeps all addresses
// in scalar registers.
Value* MemoryWidener::gather_steps(const Access& access, Value* pointer) {
  Value* first = w_.first(pointer);
  Value* stride = w_.stride(pointer);
  llvm::Type* type = w_.wide_type(access.type);
  if (w_.costs().isLegalMaskedGather(type, access.align)) {
    const uint64_t bound = uint64_t{1} << 24;
    Value* fits =
        b_.CreateICmpULT(b_.CreateAdd(stride, b_.getInt64(bound)), b_.getInt64(2 * bound));
    return w_.either(
        fits,
        [&] {
          Value* offsets = b_.CreateNSWMul(w_.splat(b_.CreateTrunc(stride, b_.getInt32Ty())),
                                           w_.sequence(b_.getInt32Ty()));
          offsets = b_.CreateSExt(offsets, w_.wide_type(b_.getInt64Ty()));
          return masked_gather(access, b_.CreateGEP(b_.getInt8Ty(), first, offsets));
        },
        [&] { return gather(access, pointer); });
  }
  if (w_.mask() || w_.width() % kStridedBlock != 0) return gather(access, pointer);
  llvm::AllocaInst* results = w_.scratch(type, "gathered");
  b_.CreateCall(strided_loader(access.size),
                {b_.CreateAddrSpaceCast(first, b_.getPtrTy()), stride, results});
  return b_.CreateLoad(type, results);
}

// Makes void (const char* first, int64_t stride, T* results) for elements of `size` bytes.
llvm::Function* MemoryWidener::strided_loader(uint64_t size) {
  auto* type = llvm::FunctionType::get(b_.getVoidTy(),
                                       {b_.getPtrTy(), b_.getInt64Ty(), b_.getPtrTy()}, false);
  const std::string form = std::to_string(size) + "." + std::to_string(w_.width());
  return w_.helper("simd.load.strided." + form, type, [&](llvm::Function& loader) {
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(loader.getContext(), "entry", &loader));
    llvm::Type* element = b.getIntNTy(static_cast<unsigned>(size * 8));
    llvm::Type* block = llvm::FixedVectorType::get(element, kStridedBlock);
    Value* stride = loader.getArg(1);
    Value* offsets[kStridedBlock + 1] = {b.getInt64(0)};
    for (unsigned i = 0; i < kStridedBlock; ++i) offsets[i + 1] = b.CreateAdd(offsets[i], stride);
    Value* first = loader.getArg(0);
    for (unsigned start = 0; start < w_.width(); start += kStridedBlock) {
      Value* values = llvm::PoisonValue::get(block);
      for (unsigned i = 0; i < kStridedBlock; ++i) {
        Value* from = b.CreateGEP(b.getInt8Ty(), first, offsets[i]);
        Value* value = b.CreateAlignedLoad(element, from, llvm::Align(1));
        values = b.CreateInsertElement(values, value, i);
      }
      Value* to = b.CreateConstGEP1_32(element, loader.getArg(2), start);
      b.CreateAlignedStore(values, to, llvm::Align(size));
      first = b.CreateGEP(b.getInt8Ty(), first, offsets[kStridedBlock]);
    }
    b.CreateRetVoid();
  });
}

void MemoryWidener::store(llvm::StoreInst& store) {
  if (deferred_.contains(&store)) return;
  const auto group = groups_.find(&store);
  if (group != groups_.end()) return store_group(group->second);
  const auto row = rows_.find(&store);
  row != rows_.end() ? store_row(row->second) : store_alone(store);
}

void MemoryWidener::store_alone(llvm::StoreInst& store) {
  Value* pointer = store.getPointerOperand();
  const Shape shape = w_.shape(pointer);
  if (shape.is_uniform()) return store_uniform(store);
  llvm::Type* type = store.getValueOperand()->getType();
  const Access access{type, w_.layout().getTypeStoreSize(type), store.getAlign(),
                      store.isVolatile(), is_nontemporal(store)};
  Value* values = w_.vector(store.getValueOperand());
  if (store.isAtomic()) {
    scatter(access, pointer, values);
    return;
  }
  if (shape.is_strided()) return store_strided(access, pointer, values);
  if (shape.is_varying()) return store_varying(access, pointer, values);
  auto each_lane = [&] { scatter(access, pointer, values); };
  if (stride(shape) != static_cast<int64_t>(access.size)) {
    const unsigned run = run_of_lanes(shape, access.size);
    if (!run) return each_lane();
    return w_.branch(
        w_.lanes(pointer).holds, [&] { store_lane_runs(access, pointer, shape, run, values); },
        each_lane);
  }
  w_.branch(
      w_.lanes(pointer).holds, [&] { store_contiguous(access, w_.first(pointer), values); },
      each_lane);
}

// The last active lane's value is stored.
void MemoryWidener::store_uniform(llvm::StoreInst& store) {
  Value* value = store.getValueOperand();
  auto* copy = checked_cast<llvm::StoreInst>(store.clone());
  copy->setOperand(
      0, w_.shape(value).is_uniform() ? w_.first(value) : w_.last_active(w_.vector(value)));
  copy->setOperand(1, w_.first(store.getPointerOperand()));
  b_.Insert(copy);
}

void MemoryWidener::store_contiguous(const Access& access, Value* first, Value* values) {
  w_.branch(
      w_.all_run(), [&] { store_block(access, first, values); },
      [&] { b_.CreateMaskedStore(values, first, access.align, w_.mask()); });
}

// Stores all of `values`. Non-temporal stores must fill cache lines, alone or with the next gang's:
// processors combine halves of lines.
void MemoryWidener::store_block(const Access& access, Value* first, Value* values) {
  const uint64_t bytes = w_.layout().getTypeStoreSize(values->getType());
  if (!access.is_nontemporal || (bytes % kCacheLine != 0 && bytes != kCacheLine / 2)) {
    b_.CreateAlignedStore(values, first, access.align, access.is_volatile);
    return;
  }
  const llvm::Align whole(std::min(bytes, kCacheLine));
  Value* inside = b_.CreateAnd(b_.CreatePtrToInt(first, b_.getInt64Ty()), whole.value() - 1);
  w_.branch(
      passes_caches(inside), [&] { store_past_caches(values, first, whole); },
      [&] { b_.CreateAlignedStore(values, first, access.align, access.is_volatile); });
}

// Whether the launch has many results and `inside`, the bytes from the start of a line, is 0.
Value* MemoryWidener::passes_caches(Value* inside) {
  Value* keep = GroupAccess(b_, w_.function().getArg(kGroupArgument)).cached_stores();
  return b_.CreateICmpEQ(b_.CreateOr(inside, keep), b_.getInt64(0));
}

void MemoryWidener::store_past_caches(Value* values, Value* place, llvm::Align align) const {
  b_.CreateAlignedStore(values, place, align)
      ->setMetadata(
          llvm::LLVMContext::MD_nontemporal,
          llvm::MDNode::get(b_.getContext(), llvm::ConstantAsMetadata::get(b_.getInt32(1))));
}

void MemoryWidener::store_strided(const Access& access, Value* pointer, Value* values) {
  Value* first = w_.first(pointer);
  Value* stride = w_.stride(pointer);
  w_.branch(
      b_.CreateICmpEQ(stride, b_.getInt64(access.size)),
      [&] { store_contiguous(access, first, values); }, [&] { scatter(access, pointer, values); });
}

void MemoryWidener::store_varying(const Access& access, Value* pointer, Value* values) {
  const IndexedAddress address = frozen_address(pointer);
  if (access.size % address.scale != 0) return scatter(access, pointer, values);
  w_.branch(
      are_consecutive(address, access.size),
      [&] { store_contiguous(access, address_of_lane(address, 0), values); },
      [&] { scatter(access, pointer, values); });
}

// Stores in the order of the lanes.
void MemoryWidener::scatter(const Access& access, Value* pointer, Value* values) {
  if (w_.costs().isLegalMaskedScatter(values->getType(), access.align)) {
    b_.CreateMaskedScatter(values, addresses(w_.address(pointer)), access.align, w_.mask_or_all());
  } else {
    store_lanes(w_, w_.address(pointer), values);
  }
}

}  // namespace metal::cpu
