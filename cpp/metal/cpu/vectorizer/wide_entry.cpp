#include "metal/cpu/vectorizer/wide_entry.h"

#include <utility>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/internal_check.h"
#include "metal/cpu/codegen/build_loop.h"
#include "metal/cpu/codegen/code_generator.h"
#include "metal/cpu/codegen/group_access.h"
#include "metal/cpu/codegen/lower.h"

namespace metal::cpu {
namespace {

using llvm::Value;

struct Threads {
  Value* x;
  Value* y;
  Value* z;
  Value* index;
  Value* active;
};

Value* lane_indices(llvm::IRBuilder<>& b, uint32_t width) {
  llvm::SmallVector<llvm::Constant*> lanes;
  for (uint32_t i = 0; i < width; ++i) lanes.push_back(b.getInt32(i));
  return llvm::ConstantVector::get(lanes);
}

// Divides integers below 2^10 in single precision. This is exact, as 0.5 keeps the quotients away
// from integers.
Value* quotient(llvm::IRBuilder<>& b, Value* numbers, Value* divisor, uint32_t width) {
  llvm::Type* floats = llvm::FixedVectorType::get(b.getFloatTy(), width);
  Value* middle = b.CreateFAdd(b.CreateUIToFP(numbers, floats), llvm::ConstantFP::get(floats, 0.5));
  Value* inverse = b.CreateFDiv(llvm::ConstantFP::get(b.getFloatTy(), 1.0),
                                b.CreateUIToFP(divisor, b.getFloatTy()));
  return b.CreateFPToSI(b.CreateFMul(middle, b.CreateVectorSplat(width, inverse)),
                        numbers->getType());
}

Value* thread_count(llvm::IRBuilder<>& b, Value* group_pointer) {
  GroupAccess group(b, group_pointer);
  return b.CreateNUWMul(b.CreateNUWMul(group.size(0), group.size(1)), group.size(2));
}

Threads threads_of_gang(llvm::IRBuilder<>& b, Value* group_pointer, Value* gang,
                        const Variant& variant) {
  GroupAccess group(b, group_pointer);
  const uint32_t width = variant.width;
  // The code of several gangs finds their places itself.
  Value* zero = b.getInt32(0);
  if (variant.jammed > 1) return {zero, zero, zero, gang, b.getTrue()};
  Value* first = b.CreateNUWMul(gang, b.getInt32(width));
  Value* size_x = variant.gangs_in_row ? b.getInt32(variant.gangs_in_row * width) : group.size(0);
  Value* size_y = variant.gangs_in_row ? b.getInt32(variant.rows) : group.size(1);
  if (variant.layout == ThreadLayout::Full) {
    Value* row = b.CreateUDiv(first, size_x);
    return {b.CreateURem(first, size_x), b.CreateURem(row, size_y), b.CreateUDiv(row, size_y),
            first, b.getTrue()};
  }
  Value* count = thread_count(b, group_pointer);
  Value* index = b.CreateNUWAdd(b.CreateVectorSplat(width, first), lane_indices(b, width));
  Value* row = quotient(b, index, size_x, width);
  Value* layer = quotient(b, row, size_y, width);
  Value* x = b.CreateSub(index, b.CreateMul(row, b.CreateVectorSplat(width, size_x)));
  Value* y = b.CreateSub(row, b.CreateMul(layer, b.CreateVectorSplat(width, size_y)));
  return {x, y, layer, first, b.CreateICmpULT(index, b.CreateVectorSplat(width, count))};
}

llvm::SmallVector<Value*> arguments_of(llvm::IRBuilder<>& b, Value* group, const Threads& threads) {
  return {group, threads.x, threads.y, threads.z, threads.index, b.getInt32(0), threads.active};
}

// Calls code that may bail out, and `otherwise` if it does. Code that returns nothing never does.
void run_or(llvm::IRBuilder<>& b, llvm::Function& speculative, llvm::ArrayRef<Value*> arguments,
            llvm::function_ref<void()> otherwise) {
  Value* done = b.CreateCall(&speculative, arguments);
  if (done->getType()->isVoidTy()) return;
  llvm::Function* entry = b.GetInsertBlock()->getParent();
  auto* again = llvm::BasicBlock::Create(entry->getContext(), "again", entry);
  auto* next = llvm::BasicBlock::Create(entry->getContext(), "next", entry);
  b.CreateCondBr(done, next, again);
  b.SetInsertPoint(again);
  otherwise();
  b.CreateBr(next);
  b.SetInsertPoint(next);
}

void run_general(llvm::IRBuilder<>& b, const llvm::Function& wide,
                 llvm::ArrayRef<Value*> arguments) {
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  llvm::Type* pointer = b.getPtrTy();
  Value* slot = module.getOrInsertGlobal(kGeneralSlot, b.getInt8Ty());
  Value* code =
      b.CreateCall(module.getOrInsertFunction("metal_cpu_general_code", pointer, pointer, pointer),
                   {arguments[0], slot});
  b.CreateCall(wide.getFunctionType(), code, arguments);
}

void run_gang(llvm::IRBuilder<>& b, const GangCode& code, llvm::ArrayRef<Value*> arguments) {
  if (code.speculative) {
    run_or(b, *code.speculative, arguments, [&] { run_general(b, *code.wide, arguments); });
  } else {
    b.CreateCall(code.wide, arguments);
  }
}

// The slice and the code of the gang start with the same computations. Inlined into the loop, they
// share those that do not change. So do the iterations of gangs.
void inline_in_loop(const GangCode& code) {
  if (code.iteration) code.iteration->addFnAttr(llvm::Attribute::AlwaysInline);
  if (!code.prefetch_slice) return;
  for (llvm::Function* part :
       {code.prefetch_slice, code.several_gangs ? code.several_gangs : code.speculative}) {
    if (part) part->addFnAttr(llvm::Attribute::AlwaysInline);
  }
}

// Prefetches for the same gang of the next threadgroup, so that memory works while this gang
// computes.
void prefetch_next(llvm::IRBuilder<>& b, const GangCode& code, llvm::ArrayRef<Value*> arguments) {
  if (!code.prefetch_slice) return;
  llvm::SmallVector<Value*> its_arguments(arguments);
  its_arguments[0] = GroupAccess(b, arguments[0]).next();
  b.CreateCall(code.prefetch_slice, its_arguments);
}

// Builds the entry point for a threadgroup whose gangs are along its rows.
class RowsBuilder {
 public:
  RowsBuilder(const GangCode& code, uint32_t width)
      : code_(code),
        width_(width),
        entry_(create_entry(code.pieces.empty() ? *code.wide : *code.pieces.front())),
        b_(llvm::BasicBlock::Create(entry_->getContext(), "entry", entry_)) {
    GroupAccess group(b_, entry_->getArg(0));
    for (unsigned i = 0; i < 3; ++i) size_[i] = group.size(i);
    whole_ = round_down(size_[0], width);
    inline_in_loop(code);
    several_gangs_ = code.several_gangs ? round_down(size_[0], coherent_width(width))
                     : code.jammed.code ? round_down(size_[0], code.jammed.gangs * width)
                                        : b_.getInt32(0);
  }

  llvm::Function* build(llvm::Function& body) {
    each(2, [&] {
      each(1, [&] {
        if (code_.columns) {
          run_columns(body);
          return;
        }
        if (code_.iteration) {
          run_iterations([&] { run_row(); });
        } else {
          run_row();
        }
        run_rest(body);
      });
    });
    b_.CreateRetVoid();
    return entry_;
  }

 private:
  Value* round_down(Value* number, uint32_t step) {
    return b_.CreateAnd(number, b_.getInt32(~(step - 1)));
  }

  // Goes through the threadgroup along y or z, from column to column if there is code for these.
  void each(unsigned dimension, llvm::function_ref<void()> inside) {
    const bool has_columns = code_.columns && code_.column_dimension == dimension;
    each(dimension, b_.getInt32(0), size_[dimension], has_columns ? code_.column : 1, inside);
  }

  void each(unsigned dimension, Value* start, Value* end, uint32_t step,
            llvm::function_ref<void()> inside) {
    build_loop(b_, start, end, step, dimension == 1 ? "y" : "z", [&](Value* place) {
      Value* before = std::exchange(place_[dimension], place);
      inside();
      place_[dimension] = before;
    });
  }

  llvm::SmallVector<Value*> arguments(Value* x) {
    const auto& [unused, y, z] = place_;
    Value* row = b_.CreateMul(b_.CreateAdd(b_.CreateMul(z, size_[1]), y), size_[0]);
    return arguments_of(b_, entry_->getArg(0), {x, y, z, b_.CreateNUWAdd(row, x), b_.getTrue()});
  }

  // Runs the columns that start in one row.
  void run_columns(llvm::Function& body) {
    const unsigned dimension = code_.column_dimension;
    auto each_of_column = [&](llvm::function_ref<void()> inside) {
      Value* start = place_[dimension];
      Value* end = b_.CreateNUWAdd(start, b_.getInt32(code_.column));
      each(dimension, start, end, 1, inside);
    };
    build_loop(b_, b_.getInt32(0), whole_, width_, "x", [&](Value* x) {
      run_or(b_, *code_.columns, arguments(x),
             [&] { each_of_column([&] { run_gang(b_, code_, arguments(x)); }); });
    });
    each_of_column([&] { run_rest(body); });
  }

  // Runs the gangs of a row, one after the other.
  void run_row() {
    for (llvm::Function* piece : code_.pieces) {
      build_loop(b_, b_.getInt32(0), whole_, width_, "x",
                 [&](Value* x) { b_.CreateCall(piece, arguments(x)); });
    }
    if (!code_.pieces.empty()) return;
    if (code_.several_gangs) run_several_gangs();
    if (code_.jammed.code) run_jammed_gangs();
    run_gangs(several_gangs_, whole_);
  }

  // Runs the iterations of a row's gangs in turns, or `otherwise` if their number is not known.
  void run_iterations(llvm::function_ref<void()> otherwise) {
    Value* count = b_.CreateCall(code_.iteration_count, arguments(b_.getInt32(0)));
    auto* in_turns = llvm::BasicBlock::Create(b_.getContext(), "in_turns", entry_);
    auto* one_by_one = llvm::BasicBlock::Create(b_.getContext(), "one_by_one", entry_);
    auto* next = llvm::BasicBlock::Create(b_.getContext(), "next", entry_);
    b_.CreateCondBr(b_.CreateIsNull(count), one_by_one, in_turns);
    b_.SetInsertPoint(one_by_one);
    otherwise();
    b_.CreateBr(next);
    b_.SetInsertPoint(in_turns);
    build_loop(b_, b_.getInt32(0), count, 1, "iteration", [&](Value* iteration) {
      build_loop(b_, b_.getInt32(0), whole_, width_, "x", [&](Value* x) {
        llvm::SmallVector<Value*> its_arguments = arguments(x);
        its_arguments.push_back(iteration);
        b_.CreateCall(code_.iteration, its_arguments);
      });
    });
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
  }

  void run_gangs(Value* start, Value* end) {
    build_loop(b_, start, end, width_, "x", [&](Value* x) {
      if (!code_.several_gangs) prefetch_next(b_, code_, arguments(x));
      run_gang(b_, code_, arguments(x));
    });
  }

  void run_several_gangs() {
    const uint32_t step = coherent_width(width_);
    build_loop(b_, b_.getInt32(0), several_gangs_, step, "several", [&](Value* x) {
      prefetch_next(b_, code_, arguments(x));
      run_or(b_, *code_.several_gangs, arguments(x),
             [&] { run_gangs(x, b_.CreateAdd(x, b_.getInt32(step))); });
    });
  }

  void run_jammed_gangs() {
    const auto& [jammed, gangs] = code_.jammed;
    const uint32_t step = gangs * width_;
    build_loop(b_, b_.getInt32(0), several_gangs_, step, "set",
               [&, jammed = jammed, step](Value* x) {
                 run_or(b_, *jammed, arguments(x),
                        [&] { run_gangs(x, b_.CreateAdd(x, b_.getInt32(step))); });
               });
  }

  // The threads of a row that fill no gang.
  void run_rest(llvm::Function& body) {
    build_loop(b_, whole_, size_[0], 1, "rest",
               [&](Value* x) { b_.CreateCall(&body, arguments(x)); });
  }

  const GangCode& code_;
  const uint32_t width_;
  llvm::Function* entry_;
  llvm::IRBuilder<> b_;
  Value* size_[3];
  Value* whole_;          // threads of a row that fill gangs
  Value* several_gangs_;  // threads of a row that fill several gangs at once
  Value* place_[3] = {};  // of a row: y and z
};

}  // namespace

Value* gang_count(llvm::IRBuilder<>& b, Value* group, const Variant& variant) {
  if (variant.gangs_in_row) return b.getInt32(variant.gangs_in_row * variant.rows / variant.jammed);
  return b.CreateUDiv(b.CreateAdd(thread_count(b, group), b.getInt32(variant.width - 1)),
                      b.getInt32(variant.width));
}

llvm::SmallVector<Value*> gang_arguments(llvm::IRBuilder<>& b, Value* group, Value* gang,
                                         const Variant& variant) {
  return arguments_of(b, group, threads_of_gang(b, group, gang, variant));
}

BodyShapes shapes_of(const Variant& variant) {
  Shape::Offsets lanes(variant.width);
  for (uint32_t i = 0; i < variant.width; ++i) lanes[i] = i;
  const auto gang_zeros = static_cast<unsigned>(std::countr_zero(variant.width));
  auto consecutive = [&](unsigned zeros) {
    return Shape::with_offsets(lanes, zeros, true, {true, true});
  };
  const Shape uniform = Shape::uniform();
  const Shape varying = Shape::varying();
  BodyShapes shapes{
      .width = variant.width, .arguments = {}, .row_has_gangs = variant.gangs_in_row > 1};
  switch (variant.layout) {
    case ThreadLayout::Rows:
      shapes.arguments = {uniform,
                          consecutive(gang_zeros),
                          uniform,
                          uniform,
                          consecutive(variant.row_multiple % variant.width == 0 ? gang_zeros : 0),
                          consecutive(32),
                          uniform};
      break;
    case ThreadLayout::Full:
      shapes.arguments = {uniform, consecutive(gang_zeros), uniform,
                          uniform, consecutive(gang_zeros), consecutive(32),
                          uniform};
      break;
    case ThreadLayout::Ragged:
      shapes.arguments = {uniform,         varying, varying, varying, consecutive(gang_zeros),
                          consecutive(32), varying};
      break;
    case ThreadLayout::Scalar:
      internal_error("scalar code has no lanes");
  }
  return shapes;
}

llvm::Function* make_rows_entry(const GangCode& code, llvm::Function& body, uint32_t width) {
  return RowsBuilder(code, width).build(body);
}

llvm::Function* make_one_call_entry(llvm::Function& threadgroup) {
  llvm::Function* entry = create_entry(threadgroup);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(entry->getContext(), "entry", entry));
  llvm::SmallVector<Value*> arguments{entry->getArg(0)};
  for (llvm::Argument& argument : llvm::drop_begin(threadgroup.args()))
    arguments.push_back(llvm::PoisonValue::get(argument.getType()));
  b.CreateCall(&threadgroup, arguments);
  b.CreateRetVoid();
  return entry;
}

llvm::Function* make_all_gangs_entry(const GangCode& code, const Variant& variant) {
  llvm::Function* entry = create_entry(*code.wide);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(entry->getContext(), "entry", entry));
  Value* group_pointer = entry->getArg(0);
  Value* gangs = gang_count(b, group_pointer, variant);
  inline_in_loop(code);
  auto arguments_of_gang = [&](Value* gang) {
    return gang_arguments(b, group_pointer, gang, variant);
  };
  auto run_each = [&](Value* start, Value* end) {
    build_loop(b, start, end, 1, "gang", [&](Value* gang) {
      const auto arguments = arguments_of_gang(gang);
      prefetch_next(b, code, arguments);
      run_gang(b, code, arguments);
    });
  };
  const auto& [jammed, set] = code.jammed;
  if (!jammed) {
    run_each(b.getInt32(0), gangs);
  } else {
    build_loop(b, b.getInt32(0), gangs, set, "set", [&, jammed = jammed, set = set](Value* first) {
      run_or(b, *jammed, arguments_of_gang(first),
             [&] { run_each(first, b.CreateNUWAdd(first, b.getInt32(set))); });
    });
  }
  b.CreateRetVoid();
  return entry;
}

}  // namespace metal::cpu
