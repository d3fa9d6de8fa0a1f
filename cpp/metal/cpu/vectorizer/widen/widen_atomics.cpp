// Widens atomic operations.
#include <optional>

#include "metal/compiler/checked_cast.h"
#include "metal/compiler/internal_check.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/memory/float_atomics.h"
#include "metal/cpu/vectorizer/widen/lane_arithmetic.h"
#include "metal/cpu/vectorizer/widen/lane_by_lane.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

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
  if (!fold) internal_error("lanes do not fold this operation");
  return fold_pair(b, *fold, before, value);
}

}  // namespace

// A threadgroup runs on one core, one gang at a time, so nobody else sees threadgroup memory. (Code
// for several gangs at once is not made of kernels with atomics: see KernelTraits.)
bool is_exclusive(const llvm::AtomicRMWInst& operation) {
  return operation.getPointerAddressSpace() == kThreadgroupMemory &&
         (operation.getOperation() == llvm::AtomicRMWInst::Xchg ||
          fold_of(operation.getOperation()));
}

// Such operations give memory the same values in any order, apart from the rounding of floats.
bool commutes(const Instruction& instruction) {
  const auto* operation = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
  return operation && operation->use_empty() && is_exclusive(*operation) &&
         operation->getOperation() != llvm::AtomicRMWInst::Xchg;
}

// Makes one lane's operation and returns the old value.
Value* MemoryWidener::rmw_once(const llvm::AtomicRMWInst& operation, Value* pointer, Value* value) {
  llvm::IRBuilder<>& b = b_;
  Value* group = w_.function().getArg(kGroupArgument);
  if (is_deferred(operation)) {
    defer_addition(b, group, pointer, value);
    return llvm::PoisonValue::get(value->getType());
  }
  if (takes_locks_ && is_float_add(operation)) return call_locked_add(b, group, pointer, value);
  if (is_exclusive(operation)) {
    Value* before = b.CreateAlignedLoad(value->getType(), pointer, operation.getAlign());
    b.CreateAlignedStore(combine(b, operation.getOperation(), before, value), pointer,
                         operation.getAlign());
    return before;
  }
  auto* copy = checked_cast<llvm::AtomicRMWInst>(operation.clone());
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

// Combines the lanes' values first, then makes one atomic operation. A lane's result is the old
// value plus the values of the lanes before it.
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

// If neighbouring lanes add to neighbouring elements, makes these additions as one vector. Indices
// that lanes read for themselves seldom are neighbours, and a test takes long beside the additions.
bool MemoryWidener::add_to_row(llvm::AtomicRMWInst& operation) {
  Value* pointer = operation.getPointerOperand();
  if (lane_loads_.address_of(operation)) return false;
  llvm::Type* type = operation.getType();
  const bool exclusive = is_exclusive(operation);
  if (!exclusive && !takes_locks_) return false;
  if (exclusive && !fold_of(operation.getOperation())) return false;
  const Shape shape = w_.shape(pointer);
  const uint64_t size = w_.layout().getTypeStoreSize(type);
  if (shape.has_offsets() && stride(shape) != static_cast<int64_t>(size)) return false;
  const IndexedAddress address = shape.has_offsets() ? IndexedAddress{} : frozen_address(pointer);
  if (shape.is_varying() && size % address.scale != 0) return false;
  auto row = [&] {
    Value* values = w_.vector(operation.getValOperand());
    Value* first = shape.has_offsets() ? w_.first(pointer) : address_of_lane(address, 0);
    if (exclusive) {
      const Access access{type, size, operation.getAlign(), false};
      Value* before = load_contiguous(access, first);
      store_contiguous(access, first, combine(b_, operation.getOperation(), before, values));
      return;
    }
    if (is_deferred(operation) && w_.width() % Additions::kRow == 0) {
      w_.branch(
          is_whole_row(first),
          [&] { defer_row(b_, w_.function().getArg(kGroupArgument), first, values); },
          [&] { add_row_at_once(first, values); });
    } else {
      add_row_at_once(first, values);
    }
  };
  Value* fits = shape.has_offsets() ? w_.lanes(pointer).holds : are_consecutive(address, size);
  w_.branch(fits, row, [&] { rmw_lane_by_lane(operation); });
  return true;
}

// Whether all lanes are active and no part of the row of Additions::kRow floats crosses the end of
// a region.
Value* MemoryWidener::is_whole_row(Value* first) {
  Value* start = b_.CreateAnd(b_.CreatePtrToInt(first, b_.getInt64Ty()), kRegionSize - 1);
  constexpr uint64_t kPart = Additions::kRow * sizeof(float);
  Value* fits = w_.width() == Additions::kRow
                    ? b_.CreateICmpULE(start, b_.getInt64(kRegionSize - kPart))
                    : b_.CreateICmpEQ(b_.CreateAnd(start, kPart - 1), b_.getInt64(0));
  Value* all = w_.all_run();
  return all ? b_.CreateAnd(all, fits) : fits;
}

void MemoryWidener::add_row_at_once(Value* first, Value* values) {
  values = w_.where_active(values, llvm::ConstantFP::getNegativeZero(b_.getFloatTy()));
  llvm::AllocaInst* memory = w_.scratch(values->getType(), "addends");
  b_.CreateStore(values, memory);
  auto callee = w_.function().getParent()->getOrInsertFunction(
      "metal_cpu_atomic_add_row_f32",
      llvm::FunctionType::get(
          b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty()}, false));
  b_.CreateCall(callee,
                {w_.function().getArg(kGroupArgument), b_.CreateAddrSpaceCast(first, b_.getPtrTy()),
                 memory, b_.CreateZExtOrTrunc(w_.mask_bits(), b_.getInt64Ty())});
}

// Threadgroup memory and lists of deferred additions take a few instructions for each lane, so
// there is no loop where all lanes are active.
void MemoryWidener::rmw_lane_by_lane(llvm::AtomicRMWInst& operation) {
  Value* values = w_.vector(operation.getValOperand());
  Value* results = nullptr;
  if (const LaneAddress* loaded = lane_loads_.address_of(operation)) {
    results = rmw_loaded_address(operation, *loaded, values);
  } else {
    const IndexedAddress address = w_.address(operation.getPointerOperand());
    auto looped = [&] {
      const LaneAddresses addresses = lane_addresses(w_, address);
      return rmw_looped(operation, values, [&](Value* lane) { return addresses.at(b_, lane); });
    };
    auto appended = [&] {
      defer_lanes(b_, w_.function().getArg(kGroupArgument), addresses(address), values);
      return llvm::PoisonValue::get(values->getType());
    };
    auto unrolled = [&] {
      llvm::AllocaInst* indices = w_.scratch(address.index->getType(), "indices");
      b_.CreateStore(address.index, indices);
      return rmw_unrolled(operation, values, [&](unsigned lane) {
        return address_at(address, load_element(b_, indices, lane));
      });
    };
    if (is_deferred(operation)) {
      results = w_.either(w_.all_run(), appended, looped);
    } else {
      results = is_exclusive(operation) ? w_.either(w_.all_run(), unrolled, looped) : looped();
    }
  }
  if (!operation.use_empty()) w_.set_vector(&operation, results);
}

// Each lane reads its index and computes the address from it.
Value* MemoryWidener::rmw_loaded_address(const llvm::AtomicRMWInst& operation,
                                         const LaneAddress& address, Value* values) {
  Value* place = address.load->getPointerOperand();
  auto unrolled = [&] {
    const Vectors places = lane_pointers(place);
    return rmw_unrolled(operation, values,
                        [&](unsigned lane) { return compute_address(w_, address, places[lane]); });
  };
  auto looped = [&] {
    const LaneAddresses places = lane_addresses(w_, w_.address(place));
    return rmw_looped(operation, values, [&](Value* lane) {
      return compute_address(w_, address, places.at(b_, lane));
    });
  };
  return w_.either(all_of({w_.lanes(place).holds, w_.all_run()}), unrolled, looped);
}

Value* MemoryWidener::rmw_looped(const llvm::AtomicRMWInst& operation, Value* values,
                                 llvm::function_ref<Value*(Value*)> address) {
  llvm::Type* type = operation.getType();
  llvm::AllocaInst* operands = w_.scratch(values->getType(), "operands");
  llvm::AllocaInst* results = w_.scratch(values->getType(), "before");
  b_.CreateStore(values, operands);
  w_.for_each_lane([&](Value* lane) {
    Value* value = b_.CreateLoad(type, b_.CreateGEP(type, operands, lane));
    Value* before = rmw_once(operation, address(lane), value);
    if (!operation.use_empty()) b_.CreateStore(before, b_.CreateGEP(type, results, lane));
  });
  if (operation.use_empty()) return llvm::PoisonValue::get(values->getType());
  return b_.CreateLoad(values->getType(), results);
}

Value* MemoryWidener::rmw_unrolled(const llvm::AtomicRMWInst& operation, Value* values,
                                   llvm::function_ref<Value*(unsigned)> address) {
  Value* results = llvm::PoisonValue::get(values->getType());
  if (is_deferred(operation)) {
    Vectors pointers;
    for (unsigned lane = 0; lane < w_.width(); ++lane) pointers.push_back(address(lane));
    defer_lanes(b_, w_.function().getArg(kGroupArgument), pointers, values);
    return results;
  }
  for (unsigned lane = 0; lane < w_.width(); ++lane) {
    Value* before = rmw_once(operation, address(lane), b_.CreateExtractElement(values, lane));
    results = b_.CreateInsertElement(results, before, lane);
  }
  return results;
}

// The result has two vectors: the old values, and whether they were the expected ones. Lanes often
// want the same place, and one of them changes it. The others only read it, which takes a tenth of
// the time of an exchange that fails.
void MemoryWidener::compare_exchange(llvm::AtomicCmpXchgInst& operation) {
  llvm::Type* type = operation.getNewValOperand()->getType();
  const LaneAddresses addresses = lane_addresses(w_, w_.address(operation.getPointerOperand()));
  llvm::AllocaInst* expected = w_.scratch(w_.wide_type(type), "expected");
  llvm::AllocaInst* replacements = w_.scratch(w_.wide_type(type), "replacements");
  llvm::AllocaInst* seen = w_.scratch(w_.wide_type(type), "seen");
  llvm::AllocaInst* done = w_.scratch(w_.wide_type(b_.getInt8Ty()), "done");
  b_.CreateStore(w_.vector(operation.getCompareOperand()), expected);
  b_.CreateStore(w_.vector(operation.getNewValOperand()), replacements);
  w_.for_each_lane([&](Value* lane) {
    Value* place = addresses.at(b_, lane);
    Value* wanted = b_.CreateLoad(type, b_.CreateGEP(type, expected, lane));
    llvm::LoadInst* now = b_.CreateAlignedLoad(type, place, operation.getAlign());
    now->setAtomic(operation.getFailureOrdering(), operation.getSyncScopeID());
    auto keep = [&](Value* old, Value* flag) {
      b_.CreateStore(old, b_.CreateGEP(type, seen, lane));
      b_.CreateStore(b_.CreateZExt(flag, b_.getInt8Ty()), b_.CreateGEP(b_.getInt8Ty(), done, lane));
    };
    auto exchange = [&] {
      auto* copy = checked_cast<llvm::AtomicCmpXchgInst>(operation.clone());
      copy->setOperand(0, place);
      copy->setOperand(1, wanted);
      copy->setOperand(2, b_.CreateLoad(type, b_.CreateGEP(type, replacements, lane)));
      b_.Insert(copy);
      keep(b_.CreateExtractValue(copy, 0), b_.CreateExtractValue(copy, 1));
    };
    w_.branch(b_.CreateICmpNE(now, wanted), [&] { keep(now, b_.getFalse()); }, exchange);
  });
  Value* values = b_.CreateLoad(w_.wide_type(type), seen);
  Value* flags = b_.CreateTrunc(b_.CreateLoad(w_.wide_type(b_.getInt8Ty()), done),
                                w_.wide_type(b_.getInt1Ty()));
  auto* pair = llvm::StructType::get(values->getType(), flags->getType());
  Value* result = b_.CreateInsertValue(llvm::PoisonValue::get(pair), values, 0);
  w_.set_vector(&operation, b_.CreateInsertValue(result, flags, 1));
}

}  // namespace metal::cpu
