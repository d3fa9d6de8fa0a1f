#include <algorithm>

#include "llvm/Analysis/CFG.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/builtin_calls.h"
#include "metal/cuda/lane_order.h"
#include "metal/cuda/lower.h"
#include "metal/cuda/several_threads.h"
#include "metal/cuda/summed_positions.h"
#include "metal/cuda/thread_position.h"
#include "metal/driver.h"

namespace metal::cuda {
namespace {

using llvm::Value;

// Names in PTX consist of letters, digits, '_' and '$'. Other characters become '_'; if two names
// are then equal, the codes of these characters are appended.
std::string ptx_name(std::string_view name) {
  std::string result = name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "_" : "";
  for (char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      result += c;
    } else {
      result += "$" + std::to_string(static_cast<unsigned char>(c));
    }
  }
  return result;
}

void add_parameter(KernelInterface& interface, Parameter::Kind kind, uint32_t index,
                   uint32_t size = 4) {
  Parameter parameter{kind, index, 0, size};
  const uint32_t alignment = std::min(size, kBufferAlignment);
  parameter.offset = static_cast<uint32_t>(llvm::alignTo(interface.parameter_bytes, alignment));
  interface.parameter_bytes = parameter.offset + parameter.size;
  interface.parameters.push_back(parameter);
}

void describe_parameters(const FunctionInfo& function, const LaunchForm& form,
                         KernelInterface& interface) {
  for (const ArgumentInfo& argument : function.arguments) {
    if (argument.kind == ArgumentKind::Attribute) continue;
    if (argument.kind != ArgumentKind::Buffer) {
      add_parameter(interface, Parameter::Kind::ThreadgroupOffset, argument.index);
    } else if (form.by_value >> argument.index & 1) {
      const bool is_long = form.long_values >> argument.index & 1;
      add_parameter(interface, Parameter::Kind::Value, argument.index,
                    is_long ? kLongValueBytes : kValueBytes);
    } else {
      add_parameter(interface, Parameter::Kind::Buffer, argument.index, 8);
    }
  }
  for (uint32_t i = 0; i < 3; ++i) add_parameter(interface, Parameter::Kind::ThreadsPerGrid, i);
  for (uint32_t i = 0; form.in_parts && i < 3; ++i)
    add_parameter(interface, Parameter::Kind::FirstThreadgroup, i);
  for (uint32_t i = 0; form.flat && i < 3; ++i)
    add_parameter(interface, Parameter::Kind::ThreadsPerThreadgroup, i);
}

// Memory whose size the launch chooses. It begins after the kernel's variables.
llvm::GlobalVariable* dynamic_memory(llvm::Module& module) {
  static constexpr const char* kName = "metal_threadgroup_memory";
  if (auto* memory = module.getGlobalVariable(kName)) return memory;
  auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0);
  auto* memory =
      new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::ExternalLinkage, nullptr,
                               kName, nullptr, llvm::GlobalValue::NotThreadLocal, kShared);
  memory->setAlignment(llvm::Align(16));
  return memory;
}

void bind_arguments(llvm::IRBuilder<>& builder, llvm::Function& entry, llvm::Function& kernel,
                    const KernelInterface& interface) {
  for (unsigned i = 0; i < kernel.arg_size(); ++i) {
    llvm::Argument* parameter = kernel.getArg(i);
    Value* value = entry.getArg(i);
    value->setName(parameter->getName());
    if (interface.parameters[i].kind == Parameter::Kind::ThreadgroupOffset) {
      value = builder.CreateGEP(builder.getInt8Ty(), dynamic_memory(*kernel.getParent()), value);
    } else if (value->getType() != parameter->getType()) {  // a constant buffer beside values
      value = builder.CreateAddrSpaceCast(value, parameter->getType());
    }
    parameter->replaceAllUsesWith(value);
  }
}

void annotate(llvm::Function& entry, const char* name, uint32_t value) {
  llvm::LLVMContext& context = entry.getContext();
  auto* number = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value);
  entry.getParent()
      ->getOrInsertNamedMetadata("nvvm.annotations")
      ->addOperand(llvm::MDNode::get(
          context, {llvm::ValueAsMetadata::get(&entry), llvm::MDString::get(context, name),
                    llvm::ValueAsMetadata::get(number)}));
}

void claim_alignment(llvm::Function& entry) {
  for (llvm::Argument& argument : entry.args()) {
    if (!argument.getType()->isPointerTy()) continue;
    argument.addAttr(
        llvm::Attribute::getWithAlignment(entry.getContext(), llvm::Align(kBufferAlignment)));
  }
}

// Loops that read one buffer and write another: LLVM and NVIDIA's driver may read ahead then. What
// the kernel writes is not claimed to be apart: LLVM would move accesses of it over barriers,
// behind which other threads access it.
void claim_apart(llvm::Function& entry, const FunctionInfo& function,
                 const KernelInterface& interface) {
  for (const ArgumentInfo& argument : function.arguments) {
    if (argument.kind != ArgumentKind::Buffer || argument.writable) continue;
    for (const auto& [parameter, value] : llvm::zip(interface.parameters, entry.args())) {
      if (parameter.kind == Parameter::Kind::Buffer && parameter.index == argument.index)
        value.addAttr(llvm::Attribute::NoAlias);
    }
  }
}

bool has_loops(const llvm::Module& module) {
  return llvm::any_of(module, [](const llvm::Function& function) {
    llvm::SmallVector<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>> edges;
    if (!function.isDeclaration()) llvm::FindFunctionBackedges(function, edges);
    return !edges.empty();
  });
}

// A value's parameter: a pointer to its bytes, which the GPU has in memory for parameters.
void describe_value(llvm::Argument& argument, uint32_t size) {
  llvm::LLVMContext& context = argument.getContext();
  auto* bytes = llvm::ArrayType::get(llvm::Type::getInt8Ty(context), size);
  argument.addAttr(llvm::Attribute::getWithByValType(context, bytes));
  argument.addAttr(llvm::Attribute::getWithAlignment(context, llvm::Align(kBufferAlignment)));
}

// A thread may have as many registers as leave enough for the threads of a threadgroup. If the
// kernel declares how many these may be, several smaller ones find registers at a time.
void limit_registers(llvm::Function& entry, uint32_t most_threads, uint32_t allowed,
                     bool declared) {
  const uint32_t threads = std::min(most_threads, allowed);
  annotate(entry, "maxntidx", threads);
  if (declared && allowed >= 2 * threads) annotate(entry, "minctasm", allowed / threads);
}

llvm::Function* declare_entry(llvm::Module& module, const llvm::Function& kernel,
                              const LaunchForm& form, const KernelInterface& interface) {
  llvm::IRBuilder<> builder(module.getContext());
  std::vector<llvm::Type*> types;
  for (const Parameter& parameter : interface.parameters) {
    switch (parameter.kind) {
      case Parameter::Kind::Buffer:
        types.push_back(builder.getPtrTy(kGlobal));
        break;
      case Parameter::Kind::Value:
        types.push_back(builder.getPtrTy());
        break;
      default:
        types.push_back(builder.getInt32Ty());
    }
  }
  auto* entry = llvm::Function::Create(llvm::FunctionType::get(builder.getVoidTy(), types, false),
                                       llvm::Function::ExternalLinkage, interface.entry, module);
  entry->addFnAttrs(llvm::AttrBuilder(module.getContext(), kernel.getAttributes().getFnAttrs()));
  entry->setSubprogram(kernel.getSubprogram());
  entry->setCallingConv(llvm::CallingConv::PTX_Kernel);
  if (form.aligned) claim_alignment(*entry);
  for (const auto& [parameter, argument] : llvm::zip(interface.parameters, entry->args())) {
    if (parameter.kind == Parameter::Kind::Value) describe_value(argument, parameter.size);
  }
  return entry;
}

// The consecutive arguments of one kind, by dimension; null if there are none.
struct Dimensions {
  Value* values[3] = {};
};

Dimensions find_dimensions(llvm::Function& entry, const KernelInterface& interface,
                           Parameter::Kind kind, const char* name) {
  Dimensions found;
  for (unsigned i = 0; i < interface.parameters.size(); ++i) {
    const Parameter& parameter = interface.parameters[i];
    if (parameter.kind != kind) continue;
    found.values[parameter.index] = entry.getArg(i);
    entry.getArg(i)->setName(llvm::Twine(name) + "." + llvm::Twine("xyz"[parameter.index]));
  }
  return found;
}

GridArguments find_grid(llvm::Function& entry, const KernelInterface& interface) {
  using Kind = Parameter::Kind;
  const auto size = find_dimensions(entry, interface, Kind::ThreadsPerGrid, "threads_per_grid");
  const auto first = find_dimensions(entry, interface, Kind::FirstThreadgroup, "first_threadgroup");
  const auto group =
      find_dimensions(entry, interface, Kind::ThreadsPerThreadgroup, "threads_per_threadgroup");
  GridArguments grid;
  std::ranges::copy(size.values, grid.threads_per_grid);
  std::ranges::copy(first.values, grid.first_threadgroup);
  std::ranges::copy(group.values, grid.threads_per_threadgroup);
  return grid;
}

// LLVM turns private variables into registers only if they are in the first block.
void move_variables(llvm::BasicBlock& from, llvm::BasicBlock& to) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(from)) {
    if (llvm::isa<llvm::AllocaInst>(instruction))
      instruction.moveBefore(to, to.getFirstInsertionPt());
  }
}

}  // namespace

llvm::Function* make_entry(llvm::Module& module, const FunctionInfo& function, LaunchForm form,
                           KernelInterface& interface) {
  const LaneOrder order = LaneOrder::choose(module);
  form.flat |= order.is_for_matrices();
  llvm::Function* kernel = module.getFunction(function.name);
  interface.summed_size = find_summed_positions(*kernel, form.summed);
  interface.at_once = threads_at_once(*kernel);
  interface.has_loops = has_loops(module);
  kernel->setName("kernel.body");
  interface.entry = ptx_name(function.name);
  interface.max_total_threads =
      function.max_total_threads ? std::min(function.max_total_threads, kMaxThreadsPerThreadgroup)
                                 : kMaxThreadsPerThreadgroup;
  describe_parameters(function, form, interface);
  llvm::Function* entry = declare_entry(module, *kernel, form, interface);
  limit_registers(*entry, form.most_threads, whole_warps(interface.max_total_threads),
                  function.max_total_threads > 0);
  if (form.apart && interface.has_loops) claim_apart(*entry, function, interface);
  order.set(*entry);

  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "entry", entry));
  if (form.several && interface.at_once > 1) {
    bind_arguments(builder, *entry, *kernel, interface);
    run_several(builder, *kernel, find_grid(*entry, interface), interface.at_once);
    kernel->eraseFromParent();
    return entry;
  }
  ThreadPosition position(builder, find_grid(*entry, interface), order);
  bind_arguments(builder, *entry, *kernel, interface);
  llvm::BasicBlock* body = &kernel->getEntryBlock();
  move_variables(*body, entry->getEntryBlock());
  builder.CreateBr(body);
  entry->splice(entry->end(), kernel);
  compiler::replace_builtins(
      *entry, [&](llvm::IRBuilder<>& b, compiler::Builtin builtin, unsigned component) {
        return position.value(b, builtin, component);
      });
  kernel->eraseFromParent();
  return entry;
}

}  // namespace metal::cuda
