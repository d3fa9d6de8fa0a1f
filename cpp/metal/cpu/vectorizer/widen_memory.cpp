#include "metal/cpu/vectorizer/widen_memory.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "metal/cpu/vectorizer/float_atomics.h"
#include "metal/cpu/vectorizer/lane_arithmetic.h"

namespace metal::cpu {
namespace {

using llvm::ConstantInt;
using llvm::Value;

constexpr int64_t kWidestStride = 8;  // elements between lanes that are read as one block
constexpr unsigned kThreadgroupAddressSpace = 3;

// A wide access may touch bytes around those that lanes ask for. Device and threadgroup memory have
// margins for that, a kernel's own constants have none.
bool has_margins(const Value* pointer) {
  return !llvm::isa<llvm::GlobalVariable>(llvm::getUnderlyingObject(pointer));
}

// An address as a constant number of bytes behind another.
std::pair<Value*, int64_t> split_constant(Value* pointer, const llvm::DataLayout& layout) {
  int64_t total = 0;
  while (auto* address = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
    llvm::APInt offset(64, 0);
    if (!address->accumulateConstantOffset(layout, offset)) break;
    total += offset.getSExtValue();
    pointer = address->getPointerOperand();
  }
  return {pointer, total};
}

int64_t floor_mod(int64_t a, int64_t b) { return ((a % b) + b) % b; }

}  // namespace

int64_t MemoryWidener::stride(const Shape& shape) const {
  const int64_t step = shape.offset(1);
  for (unsigned lane = 0; lane < w_.width(); ++lane) {
    if (shape.offset(lane) != step * static_cast<int64_t>(lane)) return 0;
  }
  return step;
}

void MemoryWidener::load(llvm::LoadInst& load) {
  Value* pointer = load.getPointerOperand();
  const Shape shape = w_.shape(pointer);
  if (shape.is_uniform()) {
    auto* copy = llvm::cast<llvm::LoadInst>(load.clone());
    copy->setOperand(0, w_.first(pointer));
    if (w_.mask()) copy->dropUBImplyingAttrsAndMetadata();
    w_.set_first(&load, b_.Insert(copy, load.getName()));
    return;
  }
  if (load.isAtomic()) {
    llvm::AllocaInst* addresses = w_.scratch(w_.wide_type(pointer->getType()), "addresses");
    llvm::AllocaInst* results = w_.scratch(w_.wide_type(load.getType()), "loaded");
    b_.CreateStore(w_.vector(pointer), addresses);
    w_.for_each_lane([&](Value* lane) {
      Value* from =
          b_.CreateLoad(pointer->getType(), b_.CreateGEP(pointer->getType(), addresses, lane));
      auto* copy = llvm::cast<llvm::LoadInst>(load.clone());
      copy->setOperand(0, from);
      b_.CreateStore(b_.Insert(copy), b_.CreateGEP(load.getType(), results, lane));
    });
    w_.set_vector(&load, b_.CreateLoad(w_.wide_type(load.getType()), results));
    return;
  }
  const Access access{load.getType(), w_.layout().getTypeStoreSize(load.getType()), load.getAlign(),
                      load.isVolatile()};
  Value* result;
  if (shape.is_varying()) {
    result = load_varying(access, pointer);
  } else if (Value* holds = w_.lanes(pointer).holds) {
    result = w_.either(
        holds, [&] { return load_pattern(access, pointer, shape); },
        [&] { return load_varying(access, pointer); });
  } else {
    result = load_pattern(access, pointer, shape);
  }
  w_.set_vector(&load, result);
}

Value* MemoryWidener::load_contiguous(const Access& access, Value* first) {
  return b_.CreateAlignedLoad(w_.wide_type(access.type), first, access.align, access.is_volatile);
}

Value* MemoryWidener::load_pattern(const Access& access, Value* pointer, const Shape& shape) {
  const auto size = static_cast<int64_t>(access.size);
  if (stride(shape) == size && has_margins(pointer))
    return load_contiguous(access, w_.first(pointer));
  int64_t lowest = 0, highest = 0;
  for (int64_t offset : shape.offsets()) {
    if (offset % size != 0) return gather(access, w_.vector(pointer));
    lowest = std::min(lowest, offset);
    highest = std::max(highest, offset);
  }
  const auto width = static_cast<int64_t>(w_.width());
  if ((highest - lowest) / size >= kWidestStride * width || !has_margins(pointer))
    return gather(access, w_.vector(pointer));
  return load_window(access, pointer, shape);
}

// Reads everything between the lowest and the highest address and sorts it into lanes. Accesses to
// the members of structs that follow each other read the same block, aligned to the structs.
Value* MemoryWidener::load_window(const Access& access, Value* pointer, const Shape& shape) {
  const auto size = static_cast<int64_t>(access.size);
  const auto width = static_cast<int64_t>(w_.width());
  int64_t start = 0, end = 0;
  for (int64_t offset : shape.offsets()) {
    start = std::min(start, offset);
    end = std::max(end, offset + size);
  }
  Value* base = pointer;
  int64_t base_offset = 0;
  const int64_t step = stride(shape);
  if (step > size) {
    const auto [root, constant] = split_constant(pointer, w_.layout());
    const int64_t phase = floor_mod(constant, step);
    if (phase % size == 0 && w_.lanes(root).first && w_.shape(root).is_pattern()) {
      base = root;
      base_offset = constant;
      start = -phase;
      end = start + step * width;
    }
  }
  const auto count = static_cast<unsigned>(llvm::alignTo((end - start) / size, width));
  Value* first = b_.CreateConstGEP1_64(b_.getInt8Ty(), w_.first(base), base_offset + start);
  Value* block = b_.CreateAlignedLoad(llvm::FixedVectorType::get(access.type, count), first,
                                      access.align, access.is_volatile);
  llvm::SmallVector<int> from;
  for (int64_t offset : shape.offsets()) from.push_back(static_cast<int>((offset - start) / size));
  return b_.CreateShuffleVector(block, from);
}

Value* MemoryWidener::first_address(const IndexedAddress& address) {
  Value* index = b_.CreateExtractElement(address.index, uint64_t{0});
  llvm::Type* wide = b_.getInt64Ty();
  index = address.is_signed ? b_.CreateSExt(index, wide) : b_.CreateZExt(index, wide);
  return b_.CreateGEP(llvm::ArrayType::get(b_.getInt8Ty(), address.scale), address.root, index);
}

// Where the index grows by one element, or by `size` bytes, from lane to lane.
Value* MemoryWidener::are_consecutive(const IndexedAddress& address, uint64_t size) {
  const uint64_t step = size % address.scale == 0 ? size / address.scale : 1;
  llvm::Type* type = address.index->getType()->getScalarType();
  Value* first = b_.CreateExtractElement(address.index, uint64_t{0});
  Value* fits =
      b_.CreateICmpEQ(b_.CreateSub(address.index, w_.splat(first)), w_.sequence(type, step));
  if (w_.mask()) fits = b_.CreateOr(fits, b_.CreateNot(w_.mask()));
  if (!type->isIntegerTy(32)) return w_.all(fits);
  // They may pass the end of their range on the way.
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
  const IndexedAddress address = w_.address(pointer);
  const uint64_t lane_step = access.size % address.scale == 0 ? access.size : address.scale;
  const bool blocks = lane_step % access.size == 0 &&
                      lane_step / access.size <= static_cast<uint64_t>(kWidestStride);
  auto scattered = [&]() -> Value* {
    return w_.either(
        are_equal(address),
        [&]() -> Value* {
          Value* one = b_.CreateAlignedLoad(access.type, first_address(address), access.align,
                                            access.is_volatile);
          return w_.splat(one);
        },
        [&] { return gather(access, w_.vector(pointer)); });
  };
  if (!blocks || !has_margins(pointer)) return scattered();
  return w_.either(
      are_consecutive(address, access.size),
      [&]() -> Value* {
        const auto ratio = static_cast<unsigned>(lane_step / access.size);
        Value* block =
            b_.CreateAlignedLoad(llvm::FixedVectorType::get(access.type, w_.width() * ratio),
                                 first_address(address), access.align, access.is_volatile);
        if (ratio == 1) return block;
        llvm::SmallVector<int> from;
        for (unsigned lane = 0; lane < w_.width(); ++lane)
          from.push_back(static_cast<int>(lane * ratio));
        return b_.CreateShuffleVector(block, from);
      },
      scattered);
}

// Processors without gathers call a function that goes from lane to lane: code for it in every
// place would be long and is rarely run. Lanes that do not ask read something harmless.
Value* MemoryWidener::gather(const Access& access, Value* pointers) {
  llvm::Type* type = w_.wide_type(access.type);
  if (w_.costs().isLegalMaskedGather(type, access.align))
    return b_.CreateMaskedGather(type, pointers, access.align, w_.mask_or_all());
  if (w_.mask()) {
    Value* harmless = w_.scratch(llvm::ArrayType::get(b_.getInt8Ty(), 64), "harmless");
    Value* splat = w_.splat(b_.CreateAddrSpaceCast(harmless, pointers->getType()->getScalarType()));
    pointers = b_.CreateSelect(w_.mask(), pointers, splat);
  }
  llvm::Type* words = w_.wide_type(b_.getInt64Ty());
  llvm::AllocaInst* addresses = w_.scratch(words, "addresses");
  llvm::AllocaInst* results = w_.scratch(type, "gathered");
  b_.CreateStore(b_.CreatePtrToInt(pointers, words), addresses);
  b_.CreateCall(lane_loader(access.size), {addresses, results});
  return b_.CreateLoad(type, results);
}

// void (const uint64_t* addresses, T* results) for elements of `size` bytes.
llvm::Function* MemoryWidener::lane_loader(uint64_t size) {
  llvm::Module& module = *w_.function().getParent();
  const std::string name =
      "simd.load.lanes." + std::to_string(size) + "." + std::to_string(w_.width());
  if (llvm::Function* known = module.getFunction(name)) return known;
  llvm::IRBuilder<> b(module.getContext());
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy()}, false);
  auto* loader = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module);
  loader->addFnAttrs(
      llvm::AttrBuilder(module.getContext(), w_.function().getAttributes().getFnAttrs()));
  loader->removeFnAttr(llvm::Attribute::AlwaysInline);
  loader->addFnAttr(llvm::Attribute::NoInline);
  loader->removeFnAttr(llvm::Attribute::Convergent);
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", loader));
  llvm::Type* element = b.getIntNTy(static_cast<unsigned>(size * 8));
  for (unsigned lane = 0; lane < w_.width(); ++lane) {
    Value* from =
        b.CreateLoad(b.getInt64Ty(), b.CreateConstGEP1_32(b.getInt64Ty(), loader->getArg(0), lane));
    Value* value =
        b.CreateAlignedLoad(element, b.CreateIntToPtr(from, b.getPtrTy()), llvm::Align(1));
    b.CreateStore(value, b.CreateConstGEP1_32(element, loader->getArg(1), lane));
  }
  b.CreateRetVoid();
  return loader;
}

void MemoryWidener::store(llvm::StoreInst& store) {
  if (deferred_.contains(&store)) return;
  const auto group = interleaved_.find(&store);
  if (group != interleaved_.end()) return store_interleaved(group->second);
  Value* pointer = store.getPointerOperand();
  const Shape shape = w_.shape(pointer);
  if (shape.is_uniform()) return store_uniform(store);
  llvm::Type* type = store.getValueOperand()->getType();
  const Access access{type, w_.layout().getTypeStoreSize(type), store.getAlign(),
                      store.isVolatile()};
  Value* values = w_.vector(store.getValueOperand());
  if (store.isAtomic()) {
    scatter(access, w_.vector(pointer), values);
    return;
  }
  if (shape.is_varying()) return store_varying(access, pointer, values);
  auto fast = [&]() -> Value* {
    if (stride(shape) == static_cast<int64_t>(access.size)) {
      store_contiguous(access, w_.first(pointer), values);
    } else {
      scatter(access, w_.vector(pointer), values);
    }
    return nullptr;
  };
  if (Value* holds = w_.lanes(pointer).holds) {
    w_.either(holds, fast, [&]() -> Value* {
      scatter(access, w_.vector(pointer), values);
      return nullptr;
    });
  } else {
    fast();
  }
}

// The last lane wins.
void MemoryWidener::store_uniform(llvm::StoreInst& store) {
  Value* value = store.getValueOperand();
  auto* copy = llvm::cast<llvm::StoreInst>(store.clone());
  copy->setOperand(
      0, w_.shape(value).is_uniform() ? w_.first(value) : w_.last_active(w_.vector(value)));
  copy->setOperand(1, w_.first(store.getPointerOperand()));
  b_.Insert(copy);
}

void MemoryWidener::store_contiguous(const Access& access, Value* first, Value* values) {
  auto plain = [&]() -> Value* {
    b_.CreateAlignedStore(values, first, access.align, access.is_volatile);
    return nullptr;
  };
  if (!w_.mask()) {
    plain();
    return;
  }
  w_.either(w_.all(w_.mask()), plain, [&]() -> Value* {
    b_.CreateMaskedStore(values, first, access.align, w_.mask());
    return nullptr;
  });
}

void MemoryWidener::store_varying(const Access& access, Value* pointer, Value* values) {
  const IndexedAddress address = w_.address(pointer);
  if (access.size % address.scale != 0) return scatter(access, w_.vector(pointer), values);
  w_.either(
      are_consecutive(address, access.size),
      [&]() -> Value* {
        store_contiguous(access, first_address(address), values);
        return nullptr;
      },
      [&]() -> Value* {
        scatter(access, w_.vector(pointer), values);
        return nullptr;
      });
}

// In the order of the lanes.
void MemoryWidener::scatter(const Access& access, Value* pointers, Value* values) {
  if (!w_.mask() || w_.costs().isLegalMaskedScatter(values->getType(), access.align)) {
    b_.CreateMaskedScatter(values, pointers, access.align, w_.mask_or_all());
    return;
  }
  llvm::Type* pointer = pointers->getType()->getScalarType();
  llvm::AllocaInst* addresses = w_.scratch(pointers->getType(), "addresses");
  llvm::AllocaInst* scattered = w_.scratch(values->getType(), "scattered");
  b_.CreateStore(pointers, addresses);
  b_.CreateStore(values, scattered);
  w_.for_each_lane([&](Value* lane) {
    Value* to = b_.CreateLoad(pointer, b_.CreateGEP(pointer, addresses, lane));
    Value* value = b_.CreateLoad(access.type, b_.CreateGEP(access.type, scattered, lane));
    b_.CreateAlignedStore(value, to, access.align, access.is_volatile);
  });
}

MemoryWidener::MemoryWidener(Widener& widener, llvm::Function& body)
    : w_(widener), b_(widener.builder()), takes_locks_(adds_floats_only(body)) {}

void MemoryWidener::enter(llvm::BasicBlock& block) {
  interleaved_.clear();
  deferred_.clear();
  find_interleaved_stores(block);
}

// Stores to the members of structs that follow each other, all members, nothing else in between.
void MemoryWidener::find_interleaved_stores(llvm::BasicBlock& block) {
  struct Member {
    llvm::StoreInst* store;
    Value* root;
    int64_t offset;
    int64_t step;
    int64_t size;
  };
  llvm::SmallVector<Member, 8> run;
  auto finish = [&] {
    if (run.size() < 2) return run.clear();
    llvm::sort(run, [](const Member& a, const Member& b) { return a.offset < b.offset; });
    const int64_t size = run[0].size;
    bool complete = run[0].step == size * static_cast<int64_t>(run.size());
    for (size_t i = 0; i < run.size(); ++i)
      complete &= run[i].offset == run[0].offset + size * static_cast<int64_t>(i);
    if (complete) {
      llvm::StoreInst* last = run[0].store;
      llvm::SmallVector<llvm::StoreInst*, 4> stores;
      for (const Member& member : run) {
        if (last->comesBefore(member.store)) last = member.store;
        stores.push_back(member.store);
      }
      for (llvm::StoreInst* store : stores) {
        if (store != last) deferred_.insert(store);
      }
      interleaved_[last] = stores;
    }
    run.clear();
  };
  for (llvm::Instruction& instruction : block) {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (!store) {
      if (instruction.mayReadOrWriteMemory()) finish();
      continue;
    }
    Value* pointer = store->getPointerOperand();
    const Shape shape = w_.shape(pointer);
    llvm::Type* type = store->getValueOperand()->getType();
    const auto size = static_cast<int64_t>(w_.layout().getTypeStoreSize(type));
    const int64_t step =
        shape.is_pattern() && shape.exact() && store->isSimple() ? stride(shape) : 0;
    if (step <= size || step > kWidestStride * size) {
      finish();
      continue;
    }
    const auto [root, offset] = split_constant(pointer, w_.layout());
    if (!run.empty() && (run[0].root != root || run[0].step != step ||
                         run[0].store->getValueOperand()->getType() != type)) {
      finish();
    }
    run.push_back({store, root, offset, step, size});
    if (static_cast<int64_t>(run.size()) * size == step) finish();
  }
  finish();
}

void MemoryWidener::store_interleaved(llvm::ArrayRef<llvm::StoreInst*> stores) {
  const auto members = static_cast<unsigned>(stores.size());
  auto together = [&]() -> Value* {
    llvm::SmallVector<Value*> parts;
    for (llvm::StoreInst* store : stores) parts.push_back(w_.vector(store->getValueOperand()));
    // One long vector of all members, then in the order of memory.
    while (parts.size() & (parts.size() - 1))
      parts.push_back(llvm::PoisonValue::get(parts[0]->getType()));
    while (parts.size() > 1) {
      llvm::SmallVector<Value*> joined;
      const unsigned length =
          llvm::cast<llvm::FixedVectorType>(parts[0]->getType())->getNumElements();
      llvm::SmallVector<int> both(2 * length);
      for (unsigned i = 0; i < 2 * length; ++i) both[i] = static_cast<int>(i);
      for (size_t i = 0; i < parts.size(); i += 2)
        joined.push_back(b_.CreateShuffleVector(parts[i], parts[i + 1], both));
      parts = joined;
    }
    llvm::SmallVector<int> order;
    for (unsigned lane = 0; lane < w_.width(); ++lane) {
      for (unsigned member = 0; member < members; ++member)
        order.push_back(static_cast<int>(member * w_.width() + lane));
    }
    b_.CreateAlignedStore(b_.CreateShuffleVector(parts[0], order),
                          w_.first(stores[0]->getPointerOperand()), stores[0]->getAlign());
    return nullptr;
  };
  if (!w_.mask()) {
    together();
    return;
  }
  w_.either(w_.all(w_.mask()), together, [&]() -> Value* {
    for (llvm::StoreInst* store : stores) {
      llvm::Type* type = store->getValueOperand()->getType();
      const Access access{type, w_.layout().getTypeStoreSize(type), store->getAlign(), false};
      scatter(access, w_.vector(store->getPointerOperand()), w_.vector(store->getValueOperand()));
    }
    return nullptr;
  });
}

namespace {

std::optional<LaneFold> fold_of(llvm::AtomicRMWInst::BinOp operation) {
  switch (operation) {
    case llvm::AtomicRMWInst::Add:
    case llvm::AtomicRMWInst::FAdd:
    case llvm::AtomicRMWInst::Sub:
    case llvm::AtomicRMWInst::FSub:
      return LaneFold::Sum;
    case llvm::AtomicRMWInst::And:
      return LaneFold::And;
    case llvm::AtomicRMWInst::Or:
      return LaneFold::Or;
    case llvm::AtomicRMWInst::Xor:
      return LaneFold::Xor;
    case llvm::AtomicRMWInst::Max:
    case llvm::AtomicRMWInst::FMax:
      return LaneFold::Max;
    case llvm::AtomicRMWInst::Min:
    case llvm::AtomicRMWInst::FMin:
      return LaneFold::Min;
    case llvm::AtomicRMWInst::UMax:
      return LaneFold::UnsignedMax;
    case llvm::AtomicRMWInst::UMin:
      return LaneFold::UnsignedMin;
    default:
      return std::nullopt;
  }
}

Value* combine(llvm::IRBuilder<>& b, llvm::AtomicRMWInst::BinOp operation, Value* before,
               Value* value) {
  switch (operation) {
    case llvm::AtomicRMWInst::Xchg:
      return value;
    case llvm::AtomicRMWInst::Sub:
      return b.CreateSub(before, value);
    case llvm::AtomicRMWInst::FSub:
      return b.CreateFSub(before, value);
    default:
      break;
  }
  const auto fold = fold_of(operation);
  return fold ? fold_pair(b, *fold, before, value) : nullptr;
}

// A threadgroup runs on one processor, one unit at a time: nobody else sees its memory.
bool is_exclusive(const llvm::AtomicRMWInst& operation) {
  return operation.getPointerAddressSpace() == kThreadgroupAddressSpace &&
         (operation.getOperation() == llvm::AtomicRMWInst::Xchg ||
          fold_of(operation.getOperation()));
}

}  // namespace

// One lane's operation; returns what was there before.
Value* MemoryWidener::rmw_once(const llvm::AtomicRMWInst& operation, Value* pointer, Value* value) {
  llvm::IRBuilder<>& b = b_;
  if (takes_locks_ && is_float_add(operation))
    return call_locked_add(b, w_.function().getArg(0), pointer, value);
  if (is_exclusive(operation)) {
    Value* before = b.CreateAlignedLoad(value->getType(), pointer, operation.getAlign());
    b.CreateAlignedStore(combine(b, operation.getOperation(), before, value), pointer,
                         operation.getAlign());
    return before;
  }
  auto* copy = llvm::cast<llvm::AtomicRMWInst>(operation.clone());
  copy->setOperand(0, pointer);
  copy->setOperand(1, value);
  return b.Insert(copy);
}

void MemoryWidener::read_modify_write(llvm::AtomicRMWInst& operation) {
  const Shape shape = w_.shape(operation.getPointerOperand());
  const auto fold = fold_of(operation.getOperation());
  const bool integer = operation.getType()->isIntegerTy();
  const bool additive = fold == LaneFold::Sum && integer;
  if (shape.is_uniform() && fold && (operation.use_empty() || additive))
    return rmw_uniform_address(operation);
  if (operation.use_empty() && add_to_row(operation)) return;
  rmw_lane_by_lane(operation);
}

// The lanes' values are combined first. Who adds also learns what the lanes before have added.
void MemoryWidener::rmw_uniform_address(llvm::AtomicRMWInst& operation) {
  const LaneFold fold = *fold_of(operation.getOperation());
  Value* values = w_.vector(operation.getValOperand());
  Value* pointer = w_.first(operation.getPointerOperand());
  Value* total = fold_lanes(w_, fold, values);
  Value* before = rmw_once(operation, pointer, total);
  if (operation.use_empty()) return;
  Value* earlier = scan_lanes(w_, fold, values, false);
  const bool subtract = operation.getOperation() == llvm::AtomicRMWInst::Sub;
  Value* start = w_.splat(before);
  w_.set_vector(&operation, subtract ? b_.CreateSub(start, earlier) : b_.CreateAdd(start, earlier));
}

// Neighbouring lanes that add to neighbouring numbers do so together.
bool MemoryWidener::add_to_row(llvm::AtomicRMWInst& operation) {
  Value* pointer = operation.getPointerOperand();
  llvm::Type* type = operation.getType();
  const bool exclusive = is_exclusive(operation);
  if (!exclusive && !takes_locks_) return false;
  if (exclusive && !fold_of(operation.getOperation())) return false;
  const Shape shape = w_.shape(pointer);
  const uint64_t size = w_.layout().getTypeStoreSize(type);
  if (shape.is_pattern() && stride(shape) != static_cast<int64_t>(size)) return false;
  const IndexedAddress address = shape.is_pattern() ? IndexedAddress{} : w_.address(pointer);
  if (shape.is_varying() && size % address.scale != 0) return false;
  auto row = [&]() -> Value* {
    Value* values = w_.vector(operation.getValOperand());
    Value* first = shape.is_pattern() ? w_.first(pointer) : first_address(address);
    if (exclusive) {
      const Access access{type, size, operation.getAlign(), false};
      Value* before = load_contiguous(access, first);
      store_contiguous(access, first, combine(b_, operation.getOperation(), before, values));
      return nullptr;
    }
    llvm::AllocaInst* memory = w_.scratch(values->getType(), "addends");
    b_.CreateStore(w_.where_active(values, llvm::ConstantFP::getNegativeZero(type)), memory);
    auto callee = w_.function().getParent()->getOrInsertFunction(
        "metal_cpu_atomic_add_row_f32",
        llvm::FunctionType::get(
            b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy(), b_.getInt32Ty()}, false));
    Value* flat = b_.CreateAddrSpaceCast(first, b_.getPtrTy());
    b_.CreateCall(callee, {w_.function().getArg(0), flat, memory,
                           b_.CreateZExtOrTrunc(w_.mask_bits(), b_.getInt32Ty())});
    return nullptr;
  };
  auto one_by_one = [&]() -> Value* {
    rmw_lane_by_lane(operation);
    return nullptr;
  };
  Value* fits = shape.is_pattern() ? w_.lanes(pointer).holds : are_consecutive(address, size);
  if (fits) {
    w_.either(fits, row, one_by_one);
  } else {
    row();
  }
  return true;
}

void MemoryWidener::rmw_lane_by_lane(llvm::AtomicRMWInst& operation) {
  llvm::Type* pointer = operation.getPointerOperand()->getType();
  llvm::Type* type = operation.getType();
  llvm::AllocaInst* addresses = w_.scratch(w_.wide_type(pointer), "addresses");
  llvm::AllocaInst* values = w_.scratch(w_.wide_type(type), "operands");
  llvm::AllocaInst* results = w_.scratch(w_.wide_type(type), "before");
  b_.CreateStore(w_.vector(operation.getPointerOperand()), addresses);
  b_.CreateStore(w_.vector(operation.getValOperand()), values);
  w_.for_each_lane([&](Value* lane) {
    Value* to = b_.CreateLoad(pointer, b_.CreateGEP(pointer, addresses, lane));
    Value* value = b_.CreateLoad(type, b_.CreateGEP(type, values, lane));
    Value* before = rmw_once(operation, to, value);
    if (!operation.use_empty()) b_.CreateStore(before, b_.CreateGEP(type, results, lane));
  });
  if (operation.use_empty()) return;
  w_.set_vector(&operation, b_.CreateLoad(w_.wide_type(type), results));
}

// The result is the pair of what was seen and whether it was as expected, in vectors.
void MemoryWidener::compare_exchange(llvm::AtomicCmpXchgInst& operation) {
  llvm::Type* pointer = operation.getPointerOperand()->getType();
  llvm::Type* type = operation.getNewValOperand()->getType();
  llvm::AllocaInst* addresses = w_.scratch(w_.wide_type(pointer), "addresses");
  llvm::AllocaInst* expected = w_.scratch(w_.wide_type(type), "expected");
  llvm::AllocaInst* replacements = w_.scratch(w_.wide_type(type), "replacements");
  llvm::AllocaInst* seen = w_.scratch(w_.wide_type(type), "seen");
  llvm::AllocaInst* done = w_.scratch(w_.wide_type(b_.getInt8Ty()), "done");
  b_.CreateStore(w_.vector(operation.getPointerOperand()), addresses);
  b_.CreateStore(w_.vector(operation.getCompareOperand()), expected);
  b_.CreateStore(w_.vector(operation.getNewValOperand()), replacements);
  w_.for_each_lane([&](Value* lane) {
    auto* copy = llvm::cast<llvm::AtomicCmpXchgInst>(operation.clone());
    copy->setOperand(0, b_.CreateLoad(pointer, b_.CreateGEP(pointer, addresses, lane)));
    copy->setOperand(1, b_.CreateLoad(type, b_.CreateGEP(type, expected, lane)));
    copy->setOperand(2, b_.CreateLoad(type, b_.CreateGEP(type, replacements, lane)));
    b_.Insert(copy);
    b_.CreateStore(b_.CreateExtractValue(copy, 0), b_.CreateGEP(type, seen, lane));
    b_.CreateStore(b_.CreateZExt(b_.CreateExtractValue(copy, 1), b_.getInt8Ty()),
                   b_.CreateGEP(b_.getInt8Ty(), done, lane));
  });
  Value* values = b_.CreateLoad(w_.wide_type(type), seen);
  Value* flags = b_.CreateTrunc(b_.CreateLoad(w_.wide_type(b_.getInt8Ty()), done),
                                w_.wide_type(b_.getInt1Ty()));
  auto* pair = llvm::StructType::get(values->getType(), flags->getType());
  Value* result = b_.CreateInsertValue(llvm::PoisonValue::get(pair), values, 0);
  w_.set_vector(&operation, b_.CreateInsertValue(result, flags, 1));
}

}  // namespace metal::cpu
