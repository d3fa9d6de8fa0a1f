// Computes a kernel's arguments and built-in arguments from the launch and the thread's position.
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/attributes.h"
#include "metal/compiler/builtin_calls.h"
#include "metal/compiler/internal_check.h"
#include "metal/cpu/codegen/group_access.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/markers.h"
#include "metal/driver.h"

namespace metal::cpu {
namespace {

using compiler::Builtin;
using llvm::Value;

class BuiltinLowering {
 public:
  BuiltinLowering(llvm::Function& body, const BodyForm& form)
      : body_(body),
        lane_(form.lanes_are_threads ? body.getArg(kLaneArgument) : nullptr),
        form_(form) {}

  Value* value(llvm::IRBuilder<>& b, Builtin builtin, unsigned i) {
    GroupAccess group(b, body_.getArg(kGroupArgument));
    switch (builtin) {
      case Builtin::ThreadPositionInGrid:
        return position(b, group, i);
      case Builtin::ThreadPositionInThreadgroup:
        return place(b, i);
      case Builtin::ThreadIndexInThreadgroup:
        return index(b);
      case Builtin::ThreadIndexInSimdgroup:
        return lane_ ? lane_ : b.CreateAnd(index(b), kSimdWidth - 1);
      case Builtin::ThreadIndexInQuadgroup:
        return b.CreateAnd(index(b), 3);
      case Builtin::SimdgroupIndexInThreadgroup:
        return b.CreateUDiv(index(b), b.getInt32(kSimdWidth));
      case Builtin::QuadgroupIndexInThreadgroup:
        return b.CreateUDiv(index(b), b.getInt32(4));
      case Builtin::ThreadgroupPositionInGrid:
        return group_position(b, group, i);
      case Builtin::ThreadsPerGrid:
      case Builtin::GridSize:
        return group.threads_per_grid(i);
      case Builtin::ThreadsPerThreadgroup:
        return size(b, group, i);
      case Builtin::DispatchThreadsPerThreadgroup:
        return dispatched_size(b, group, i);
      case Builtin::ThreadgroupsPerGrid:
        return group_count(b, group, i);
      case Builtin::ThreadsPerSimdgroup:
        return b.getInt32(kSimdWidth);
      case Builtin::QuadgroupsPerThreadgroup:
        return parts(b, volume(b, false), 4);
      case Builtin::SimdgroupsPerThreadgroup:
        return parts(b, volume(b, false), kSimdWidth);
      case Builtin::DispatchSimdgroupsPerThreadgroup:
        return parts(b, volume(b, true), kSimdWidth);
      case Builtin::DispatchQuadgroupsPerThreadgroup:
        return parts(b, volume(b, true), 4);
      case Builtin::GridOrigin:
        return group.grid_origin(i);
    }
    internal_error("unknown builtin");
  }

 private:
  Value* place(llvm::IRBuilder<>& b, unsigned i) {
    Value* place = body_.getArg(kXArgument + i);
    return form_.joined.along(i) ? b.CreateAnd(place, form_.joined.size - 1) : place;
  }

  // Joined threadgroups have one layer.
  Value* index(llvm::IRBuilder<>& b) {
    if (!form_.joined.any()) return body_.getArg(kIndexArgument);
    const uint32_t row = form_.joined.along(0) ? form_.joined.size : form_.row;
    Value* before = b.CreateNUWMul(place(b, 1), b.getInt32(row));
    return b.CreateNUWAdd(before, place(b, 0));
  }

  Value* group_position(llvm::IRBuilder<>& b, GroupAccess& group, unsigned i) {
    if (!form_.joined.along(i)) return group.position(i);
    Value* first = b.CreateNUWMul(group.position(i), b.getInt32(form_.joined.count));
    return b.CreateNUWAdd(first, number_in_joined(b, body_, form_));
  }

  Value* dispatched_size(llvm::IRBuilder<>& b, GroupAccess& group, unsigned i) {
    return form_.joined.along(i) ? b.getInt32(form_.joined.size) : group.threads_per_threadgroup(i);
  }

  // The last of joined threadgroups may be missing, but none is cut.
  Value* group_count(llvm::IRBuilder<>& b, GroupAccess& group, unsigned i) {
    if (!form_.joined.along(i)) return group.threadgroups_per_grid(i);
    return b.CreateUDiv(group.threads_per_grid(i), b.getInt32(form_.joined.size));
  }

  Value* position(llvm::IRBuilder<>& b, GroupAccess& group, unsigned i) {
    Value* before = b.CreateNUWMul(group.position(i), row_length(b, group, i));
    Value* position = b.CreateNUWAdd(before, body_.getArg(kXArgument + i));
    if (form_.few_threads) b.CreateAssumption(b.CreateICmpULT(position, b.getInt32(kFewThreads)));
    return position;
  }

  // The mask tells LLVM which low bits are 0.
  Value* row_length(llvm::IRBuilder<>& b, GroupAccess& group, unsigned i) {
    Value* length = group.threads_per_threadgroup(i);
    if (i != 0 || form_.row_multiple == 1) return length;
    return b.CreateAnd(length, b.getInt32(~(form_.row_multiple - 1)));
  }

  // Of this threadgroup, which may be cut at the edge of the grid.
  Value* size(llvm::IRBuilder<>& b, GroupAccess& group, unsigned i) {
    if (form_.joined.along(i)) return b.getInt32(form_.joined.size);
    if (form_.row == 0) return group.size(i);
    return b.getInt32(i == 0 ? form_.row : i == 1 ? form_.rows : 1);
  }

  Value* volume(llvm::IRBuilder<>& b, bool dispatched) {
    GroupAccess group(b, body_.getArg(kGroupArgument));
    Value* product = b.getInt32(1);
    for (unsigned i = 0; i < 3; ++i) {
      product = b.CreateMul(product, dispatched ? dispatched_size(b, group, i) : size(b, group, i));
    }
    return product;
  }

  static Value* parts(llvm::IRBuilder<>& b, Value* count, uint32_t size) {
    return b.CreateUDiv(b.CreateAdd(count, b.getInt32(size - 1)), b.getInt32(size));
  }

  llvm::Function& body_;
  llvm::Argument* lane_;
  const BodyForm& form_;
};

// Loads pointer arguments from the launch.
void bind_arguments(llvm::Function& body, llvm::Function& kernel, const FunctionInfo& info) {
  llvm::IRBuilder<> builder(&*body.getEntryBlock().getFirstInsertionPt());
  GroupAccess group(builder, body.getArg(kGroupArgument));
  unsigned position = 0;
  for (const ArgumentInfo& argument : info.arguments) {
    if (argument.kind == ArgumentKind::Attribute) continue;
    llvm::Argument* parameter = kernel.getArg(position++);
    Value* pointer = argument.kind == ArgumentKind::Buffer
                         ? group.buffer(argument.index)
                         : builder.CreateGEP(builder.getInt8Ty(), group.memory(),
                                             group.threadgroup_offset(argument.index));
    parameter->replaceAllUsesWith(
        builder.CreateAddrSpaceCast(pointer, parameter->getType(), argument.name));
  }
}

void add_range(llvm::Argument& argument, uint32_t end) {
  const llvm::ConstantRange range(llvm::APInt(32, 0), llvm::APInt(32, end));
  argument.addAttr(llvm::Attribute::get(argument.getContext(), llvm::Attribute::Range, range));
}

// With these ranges, LLVM knows that sums with a thread's place do not wrap around, and how often a
// loop over a tile runs that starts there. Coarsened threadgroups have longer rows; their kernels
// do not use the index of a thread. The range of lanes is longer by one: with the exact
// one, LLVM knows how often loops over a row run that the lanes share, and unrolls them completely,
// which takes long.
void add_ranges(llvm::Function& body, bool coarsened, const BodyForm& form) {
  const uint32_t most = coarsened ? kMaxJoinedRow : kMaxThreadsPerThreadgroup;
  llvm::SmallVector<uint32_t> ends(4, most);  // of x, y, z and the index
  if (form.row) ends = {form.row, form.rows, 1, form.row * form.rows};
  if (coarsened) ends.pop_back();
  for (const auto& [i, end] : llvm::enumerate(ends))
    add_range(*body.getArg(kXArgument + static_cast<unsigned>(i)), end);
  if (form.lanes_are_threads) add_range(*body.getArg(kLaneArgument), kSimdWidth + 1);
}

}  // namespace

bool depends_on_threadgroup(const FunctionInfo& kernel) {
  return llvm::any_of(kernel.arguments, [](const ArgumentInfo& argument) {
    if (argument.kind != ArgumentKind::Attribute) return argument.kind != ArgumentKind::Buffer;
    const auto builtin = compiler::find_builtin(argument.attribute);
    return builtin != Builtin::ThreadPositionInGrid && builtin != Builtin::ThreadsPerGrid &&
           builtin != Builtin::GridSize && builtin != Builtin::GridOrigin;
  });
}

llvm::Value* number_in_joined(llvm::IRBuilderBase& b, llvm::Function& body, const BodyForm& form) {
  return b.CreateUDiv(body.getArg(kXArgument + form.joined.dimension),
                      b.getInt32(form.joined.size));
}

llvm::Function* make_body(llvm::Module& module, const FunctionInfo& info, const BodyForm& form) {
  llvm::Function* kernel = module.getFunction(info.name);
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Type* number = builder.getInt32Ty();
  auto* type = llvm::FunctionType::get(
      builder.getVoidTy(),
      {builder.getPtrTy(), number, number, number, number, number, builder.getInt1Ty()}, false);
  auto* body = llvm::Function::Create(type, llvm::Function::InternalLinkage, "kernel.body", module);
  body->addFnAttrs(llvm::AttrBuilder(module.getContext(), kernel->getAttributes().getFnAttrs()));
  for (unsigned i = 0; i < body->arg_size(); ++i) body->getArg(i)->setName(kBodyArgumentNames[i]);
  body->getArg(kGroupArgument)->addAttr(llvm::Attribute::NoAlias);
  mark_group(*body->getArg(kGroupArgument));
  add_ranges(*body, !depends_on_threadgroup(info), form);
  body->splice(body->begin(), kernel);
  bind_arguments(*body, *kernel, info);
  BuiltinLowering lowering(*body, form);
  compiler::replace_builtins(*body, [&](llvm::IRBuilder<>& b, Builtin builtin, unsigned component) {
    return lowering.value(b, builtin, component);
  });
  kernel->eraseFromParent();
  return body;
}

}  // namespace metal::cpu
