#include "metal/cpu/checks/screen_races.h"

#include <algorithm>

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/compiler.h"
#include "metal/cpu/checks/barriers.h"
#include "metal/cpu/checks/collisions.h"
#include "metal/cpu/checks/matrix_elements.h"
#include "metal/cpu/codegen/group_access.h"

namespace metal::cpu {
namespace {

using llvm::Value;

// A copy of more words than these is not taken apart.
constexpr uint64_t kMaxGranules = 64;

// What a pointer may lead to; nothing where that is read from memory, which no check looks at.
llvm::SmallVector<const Value*> objects_of(const Value& pointer) {
  llvm::SmallVector<const Value*> objects;
  llvm::getUnderlyingObjects(&pointer, objects, nullptr, /*MaxLookup=*/0);
  llvm::erase_if(objects, [](const Value* object) {
    return !llvm::isa<llvm::Argument, llvm::GlobalVariable>(object);
  });
  return objects;
}

uint64_t alignment_of(const Access& access) {
  if (const auto* fill = llvm::dyn_cast<llvm::MemIntrinsic>(access.instruction)) {
    const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(fill);
    const bool reads = copy && access.pointer == &copy->getRawSourceUse();
    return (reads ? copy->getSourceAlign() : fill->getDestAlign()).valueOrOne().value();
  }
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(access.instruction);
  if (load) return load->getAlign().value();
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(access.instruction);
  return store ? store->getAlign().value() : access.bytes;
}

uint64_t known_bytes_of(const Access& access) {
  if (!access.length) return access.bytes;
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(access.length->get());
  return length ? length->getZExtValue() : UINT64_MAX;
}

Value* differs(llvm::IRBuilder<>& b, Value* difference, uint64_t bits) {
  return b.CreateICmpNE(b.CreateAnd(difference, bits), b.getInt64(0));
}

}  // namespace

void RaceScreen::Use::add(const Use& other) {
  reads |= other.reads;
  writes |= other.writes;
  atomic |= other.atomic;
  known &= other.known;
  granule = std::min(granule, other.granule);
}

RaceScreen::RaceScreen(CheckBuilder& builder, Provenances& provenances,
                       const std::vector<Access>& accesses,
                       const std::vector<compiler::MatrixAccess>& matrices, bool wanted)
    : builder_(builder), provenances_(provenances) {
  if (!wanted) return;
  for (const compiler::MatrixAccess& matrix : matrices) {
    for (const llvm::Instruction* element : matrix.elements) matrices_[element] = &matrix;
  }
  for (const Access& access : accesses) note(access);
  if (std::ranges::none_of(accesses, [this](const Access& access) { return tracks(access); }))
    return;
  llvm::IRBuilder<> b(builder.start());
  GroupAccess group(b, builder.group());
  auto wide = [&](Value* number) { return b.CreateZExt(number, b.getInt64Ty()); };
  Value* row =
      b.CreateAdd(b.CreateMul(wide(group.position(2)), wide(group.threadgroups_per_grid(1))),
                  wide(group.position(1)));
  Value* number =
      b.CreateAdd(b.CreateMul(row, wide(group.threadgroups_per_grid(0))), wide(group.position(0)));
  number = b.CreateShl(b.CreateAdd(number, b.getInt64(1)), kStampGroupShift);
  order_ = builder.local("order", number);
  count_barriers();
}

RaceScreen::Use& RaceScreen::use_of(const Value* object) {
  const auto [found, is_new] = numbers_.try_emplace(object, uses_.size());
  if (is_new) uses_.emplace_back();
  return uses_[found->second];
}

// Objects that one pointer may lead to are used alike.
void RaceScreen::note(const Access& access) {
  if (!is_shared(*access.written)) return;
  const auto objects = objects_of(*access.written);
  if (objects.empty()) return;
  Use use;
  use.reads = access.kind == AccessKind::Read;
  use.writes = access.kind == AccessKind::Write;
  use.atomic = access.kind == AccessKind::Atomic || access.kind == AccessKind::AtomicRead;
  const uint64_t bytes = known_bytes_of(access);
  use.granule =
      std::min({kStampGranule, alignment_of(access), std::max<uint64_t>(bytes & -bytes, 1)});
  use.known =
      bytes / use.granule <= kMaxGranules && (objects.size() == 1 || !is_device(*access.written));
  for (const Value* object : objects)
    use.granule = std::min(use.granule, provenances_.alignment(*object));
  Use& first = use_of(objects.front());
  first.add(use);
  for (const Value* object : llvm::drop_begin(objects)) {
    first.add(use_of(object));
    const size_t old = numbers_[object], now = numbers_[objects.front()];
    for (auto& [other, number] : numbers_) {
      if (number == old) number = now;
    }
  }
}

bool RaceScreen::tracks(const Access& access) const {
  if (!is_shared(*access.written)) return false;
  const auto objects = objects_of(*access.written);
  if (objects.empty()) return false;
  const auto found = numbers_.find(objects.front());
  return found != numbers_.end() && uses_[found->second].may_race();
}

// Those that order accesses.
void RaceScreen::count_barriers() {
  for (const Barrier& barrier : find_barriers(builder_.kernel())) {
    if (!barrier.orders) continue;
    lanes_wait_ |= barrier.of_lanes();
    llvm::Instruction& next = *barrier.call->getNextNode();
    llvm::IRBuilder<> b(&next);
    Value* now = order(b);
    uint64_t field = kStampLane;
    if (!barrier.of_lanes()) {
      now = b.CreateAnd(now, ~kStampLane);
      field = kStampPhase;
    }
    now = b.CreateAdd(now, b.getInt64(field & -field));
    b.CreateStore(now, order_);
    builder_.suspect_if(b.CreateICmpEQ(b.CreateAnd(now, field), b.getInt64(0)), next);
  }
}

RaceScreen::Place RaceScreen::place_of(llvm::IRBuilder<>& b, Value* pointer, Value* displacement) {
  const Value* object = objects_of(*pointer).front();
  const Use& use = use_of(object);
  Value* offset = b.CreateAdd(
      b.CreateMul(provenances_.offset(b, pointer), b.getInt64(sizeof(uint64_t) / use.granule)),
      b.CreateMul(displacement, b.getInt64(sizeof(uint64_t))));
  auto stamp = [&](bool reads) {
    return b.CreateGEP(b.getInt8Ty(), provenances_.stamps(b, pointer, *object, reads), offset);
  };
  return {stamp(false), use.reads ? stamp(true) : nullptr, is_device(*pointer), builder_.thread()};
}

uint64_t RaceScreen::tests_of(const Access& access) {
  const Use& use = use_of(objects_of(*access.written).front());
  return use.known ? known_bytes_of(access) / use.granule * (use.reads ? 3 : 2) : 1;
}

void RaceScreen::add(const Access& access) {
  const Use& use = use_of(objects_of(*access.written).front());
  llvm::Instruction& at = *access.instruction;
  llvm::IRBuilder<> b(&at);
  if (!use.known) {
    builder_.suspect_if(b.getTrue(), at);
  } else if (const compiler::MatrixAccess* matrix = matrices_.lookup(&at)) {
    // By then all its elements are known to be inside.
    if (&at == matrix->elements.back()) add_matrix(access, *matrix);
  } else {
    screen(access, place_of(b, access.written, b.getInt64(0)));
  }
}

// Lanes test elements in the order of memory, so that their stamps lie side by side: not their own
// elements, but in the name of the lanes that have them.
void RaceScreen::add_matrix(const Access& element, const compiler::MatrixAccess& matrix) {
  llvm::Instruction& at = *element.instruction;
  llvm::IRBuilder<> b(&at);
  builder_.suspect_if(b.CreateNot(is_one_matrix(b, matrix)), at);
  b.SetInsertPoint(&at);
  Value* pointer = matrix.arguments[compiler::kMatrixPointer];
  Value* lane = matrix.arguments[compiler::kMatrixLane];
  Value* simdgroup = b.CreateSub(builder_.thread(), lane);
  const uint64_t granules = element.bytes / use_of(objects_of(*pointer).front()).granule;
  for (uint64_t half = 0; half < 2; ++half) {
    b.SetInsertPoint(&at);
    Value* row = b.CreateAdd(b.CreateLShr(lane, 3), b.getInt32(half * 4));
    Value* column = b.CreateAnd(lane, 7);
    auto steps = [&](Value* count, compiler::MatrixAccessArgument step) {
      return b.CreateMul(b.CreateZExt(count, b.getInt64Ty()), matrix.arguments[step]);
    };
    Value* elements = b.CreateAdd(steps(row, compiler::kMatrixRowStep),
                                  steps(column, compiler::kMatrixColumnStep));
    Place place = place_of(b, pointer, b.CreateMul(elements, b.getInt64(granules)));
    place.thread = b.CreateAdd(simdgroup, lane_of_element(b, row, column));
    screen(element, place);
  }
}

// Whether all lanes of the SIMD-group access the same matrix.
Value* RaceScreen::is_one_matrix(llvm::IRBuilder<>& b, const compiler::MatrixAccess& matrix) {
  Value* same = b.getTrue();
  for (const unsigned argument :
       {compiler::kMatrixPointer, compiler::kMatrixRowStep, compiler::kMatrixColumnStep}) {
    Value* value = matrix.arguments[argument];
    if (llvm::isa<llvm::Constant>(value)) continue;
    if (value->getType()->isPointerTy()) value = b.CreatePtrToInt(value, b.getInt64Ty());
    Value* first =
        builder_.lane_call(b, "__metal_simd_shuffle_u64", b.getInt64Ty(), {value, b.getInt32(0)});
    same = b.CreateAnd(same, b.CreateICmpEQ(value, first));
  }
  Value* lanes = builder_.lane_call(b, "__metal_simd_ballot", b.getInt32Ty(), {same});
  return b.CreateICmpEQ(lanes, b.getInt32(UINT32_MAX));
}

void RaceScreen::screen(const Access& access, const Place& first) {
  const Use& use = use_of(objects_of(*access.written).front());
  llvm::Instruction& at = *access.instruction;
  for (uint64_t i = 0; i < known_bytes_of(access) / use.granule; ++i) {
    llvm::IRBuilder<> b(&at);
    auto next = [&](Value* stamp) {
      return stamp ? b.CreateConstGEP1_64(b.getInt64Ty(), stamp, i) : nullptr;
    };
    const Place place{next(first.write), next(first.read), first.device, first.thread};
    if (access.kind == AccessKind::Read) {
      screen_read(at, place);
    } else if (access.kind == AccessKind::Write) {
      screen_write(at, place);
    } else {
      screen_atomic(at, place);
    }
  }
}

void RaceScreen::screen_read(llvm::Instruction& at, const Place& place) {
  llvm::IRBuilder<> b(&at);
  test(at, b.CreateLoad(b.getInt64Ty(), place.write), place, false);
  b.SetInsertPoint(&at);
  Value* before = b.CreateLoad(b.getInt64Ty(), place.read);
  Value* is_new = b.CreateICmpNE(before, many(b));
  if (place.device) is_new = b.CreateAnd(is_new, b.CreateICmpNE(before, b.getInt64(kStampAll)));
  llvm::Instruction* then = builder_.if_true(is_new, at);
  b.SetInsertPoint(then);
  Value* me = stamp_of(b, place);
  Value* difference = b.CreateXor(before, me);
  Value* joins = b.CreateAnd(in_my_phase(b, before), differs(b, difference, kStampWho));
  if (lanes_wait_) joins = b.CreateAnd(joins, b.CreateNot(ordered_in_simdgroup(b, difference)));
  Value* now = b.CreateSelect(joins, many(b), me);
  if (place.device) {
    Value* foreign =
        b.CreateAnd(b.CreateICmpNE(before, b.getInt64(0)), by_another_group(b, before));
    now = b.CreateSelect(foreign, b.getInt64(kStampAll), now);
  }
  b.CreateStore(now, place.read);
  // Other lanes have read the same place at once.
  Value* shared = create_collision_test(b, place.read, now);
  b.SetInsertPoint(builder_.if_true(shared, *then));
  b.CreateStore(many(b), place.read);
}

void RaceScreen::screen_write(llvm::Instruction& at, const Place& place) {
  llvm::IRBuilder<> b(&at);
  test(at, b.CreateLoad(b.getInt64Ty(), place.write), place, false);
  b.SetInsertPoint(&at);
  if (place.read) test(at, b.CreateLoad(b.getInt64Ty(), place.read), place, false);
  b.SetInsertPoint(&at);
  Value* me = stamp_of(b, place);
  b.CreateStore(me, place.write);
  builder_.suspect_if(create_collision_test(b, place.write, me), at);
}

void RaceScreen::screen_atomic(llvm::Instruction& at, const Place& place) {
  llvm::IRBuilder<> b(&at);
  test(at, b.CreateLoad(b.getInt64Ty(), place.write), place, true);
  b.SetInsertPoint(&at);
  if (place.read) test(at, b.CreateLoad(b.getInt64Ty(), place.read), place, false);
  b.SetInsertPoint(&at);
  b.CreateStore(many(b), place.write);
}

// First whether the stamp is of this phase, or of device memory at all, which costs little; then
// the rest.
void RaceScreen::test(llvm::Instruction& at, Value* stamp, const Place& place, bool atomic) {
  const bool device = place.device;
  llvm::IRBuilder<> b(&at);
  Value* fresh = device ? b.CreateICmpNE(stamp, b.getInt64(0)) : in_my_phase(b, stamp);
  llvm::Instruction* then = builder_.unlikely_if(fresh, at);
  b.SetInsertPoint(then);
  Value* difference = b.CreateXor(stamp, stamp_of(b, place));
  Value* conflict = differs(b, difference, kStampWho);
  if (lanes_wait_)
    conflict = b.CreateAnd(conflict, b.CreateNot(ordered_in_simdgroup(b, difference)));
  if (device)
    conflict = b.CreateOr(b.CreateAnd(conflict, in_my_phase(b, stamp)), by_another_group(b, stamp));
  if (atomic) {
    Value* is_atomic = b.CreateICmpNE(b.CreateAnd(stamp, kStampMany), b.getInt64(0));
    conflict = b.CreateAnd(conflict, b.CreateNot(is_atomic));
  }
  builder_.suspect_if(conflict, *then);
}

Value* RaceScreen::order(llvm::IRBuilder<>& b) { return b.CreateLoad(b.getInt64Ty(), order_); }

Value* RaceScreen::stamp_of(llvm::IRBuilder<>& b, const Place& place) {
  return b.CreateAdd(order(b), b.CreateZExt(place.thread, b.getInt64Ty()));
}

Value* RaceScreen::many(llvm::IRBuilder<>& b) {
  return b.CreateOr(order(b), b.getInt64(kStampMany));
}

// Of this threadgroup, since the last barrier.
Value* RaceScreen::in_my_phase(llvm::IRBuilder<>& b, Value* stamp) {
  return b.CreateICmpEQ(b.CreateLShr(stamp, kStampPhaseShift),
                        b.CreateLShr(order(b), kStampPhaseShift));
}

// By a barrier of the SIMD-group in between.
Value* RaceScreen::ordered_in_simdgroup(llvm::IRBuilder<>& b, Value* difference) {
  return b.CreateAnd(b.CreateNot(differs(b, difference, kStampSimdgroup | kStampMany)),
                     differs(b, difference, kStampLane));
}

Value* RaceScreen::by_another_group(llvm::IRBuilder<>& b, Value* stamp) {
  return b.CreateICmpNE(b.CreateLShr(stamp, kStampGroupShift),
                        b.CreateLShr(order(b), kStampGroupShift));
}

}  // namespace metal::cpu
