// Libraries, functions and pipelines on top of a driver's programs and kernels.
#include "metal/host/library.h"

#include <bit>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "metal/host/device.h"
#include "metal/host/errors.h"

namespace metal::host {
namespace {

NS::SharedPtr<NS::String> make_string(const std::string& text) {
  return NS::TransferPtr(NS::String::alloc()->init(text.c_str(), NS::UTF8StringEncoding));
}

// By the numbers of scalar types.
constexpr MTL::DataType kDataTypes[] = {
    MTL::DataTypeBool,   MTL::DataTypeChar, MTL::DataTypeUChar,  MTL::DataTypeShort,
    MTL::DataTypeUShort, MTL::DataTypeInt,  MTL::DataTypeUInt,   MTL::DataTypeLong,
    MTL::DataTypeULong,  MTL::DataTypeHalf, MTL::DataTypeBFloat, MTL::DataTypeFloat,
};
static_assert(std::size(kDataTypes) == std::size(kScalarTypes));

// The numbers of vector types follow that of their element's type.
constexpr NS::UInteger kMaxComponents = 4;

MTL::DataType data_type(ScalarType type, uint32_t components) {
  return static_cast<MTL::DataType>(kDataTypes[static_cast<size_t>(type)] + components - 1);
}

std::string type_name(const FunctionConstantInfo& constant) {
  const std::string element = info_of(constant.type).name;
  return constant.components == 1 ? element : element + std::to_string(constant.components);
}

// The declaration of the constant that a value is for; null if this function declares none.
const FunctionConstantInfo* declared(const FunctionInfo& function,
                                     const MTL::FunctionConstantValues::Value& value) {
  for (const FunctionConstantInfo& constant : function.constants) {
    bool same =
        value.name ? constant.name == value.name->utf8String() : constant.index == value.index;
    if (same) return &constant;
  }
  return nullptr;
}

std::string described(const FunctionInfo& function, const FunctionConstantInfo& constant) {
  return "[" + function.name + "] function constant \"" + constant.name + "\" (index " +
         std::to_string(constant.index) + ")";
}

ConstantValues resolve(const FunctionInfo& function, const MTL::FunctionConstantValues* given) {
  ConstantValues values;
  if (!given) return values;
  for (const auto& value : given->values()) {
    const FunctionConstantInfo* constant = declared(function, value);
    if (!constant) continue;  // a set of values may be for several functions
    if (value.type != data_type(constant->type, constant->components)) {
      throw std::invalid_argument(described(function, *constant) + " has type " +
                                  type_name(*constant) + ": the value was given with another type");
    }
    values[constant->index] = {constant->type, value.bits, constant->components};
  }
  return values;
}

}  // namespace

CompileOptions compile_options(const MTL::CompileOptions* options) {
  CompileOptions result;
  if (!options) return result;
  result.math_mode = static_cast<MathMode>(options->mathMode());
  result.language_version = static_cast<uint32_t>(options->languageVersion());
  if (const NS::Dictionary* macros = options->preprocessorMacros()) {
    for (NS::UInteger i = 0; i < macros->count(); ++i) {
      const NS::Object* value = macros->objectAt(i);
      const auto* number = dynamic_cast<const NS::Number*>(value);
      const auto* text = dynamic_cast<const NS::String*>(value);
      result.macros[macros->keyAt(i)->utf8String()] = number
                                                          ? std::to_string(number->longLongValue())
                                                      : text ? text->utf8String()
                                                             : "";
    }
  }
  for (NS::UInteger i = 0; i < options->includeDirectoryCount(); ++i) {
    result.include_directories.emplace_back(options->includeDirectory(i)->utf8String());
  }
  if (options->sourcePath()) result.path = options->sourcePath()->utf8String();
  return result;
}

NS::Array* LibraryObject::functionNames() const {
  std::vector<NS::SharedPtr<NS::String>> names;
  std::vector<const NS::Object*> objects;
  for (const std::string& name : program_->names()) {
    names.push_back(make_string(name));
    objects.push_back(names.back().get());
  }
  return NS::Array::array(objects.data(), objects.size());
}

MTL::Function* LibraryObject::newFunction(const NS::String* name) {
  if (!program_->contains(name->utf8String())) return nullptr;
  return new FunctionObject(device_, program_, name->utf8String(), {});
}

MTL::Function* LibraryObject::newFunction(const NS::String* name,
                                          const MTL::FunctionConstantValues* constants,
                                          NS::Error** error) {
  try {
    const FunctionInfo& function = program_->get(name->utf8String());
    return new FunctionObject(device_, program_, function.name, resolve(function, constants));
  } catch (...) {
    set_error_from_exception(error, kLibraryDomain, MTL::LibraryErrorFunctionNotFound);
    return nullptr;
  }
}

FunctionObject::FunctionObject(MTL::Device* device, std::shared_ptr<const Program> program,
                               const std::string& name, ConstantValues constants)
    : device_(device),
      program_(std::move(program)),
      constants_(std::move(constants)),
      name_(make_string(name)),
      label_(name_) {}

void FunctionObject::setLabel(const NS::String* label) {
  label_ = label ? NS::RetainPtr(const_cast<NS::String*>(label)) : name_;
}

std::shared_ptr<const Kernel> FunctionObject::load(Driver& driver, Checks checks) const {
  return driver.load(*program_, name_->utf8String(), constants_, label_->utf8String(), checks);
}

PipelineObject::PipelineObject(MTL::Device* device, std::shared_ptr<const Kernel> kernel,
                               const FunctionObject* function)
    : device_(device),
      kernel_(std::move(kernel)),
      function_(NS::RetainPtr(function)),
      label_(make_string(kernel_->name)) {}

const Kernel& PipelineObject::kernel_for(Driver& driver, Checks checks) const {
  if (checks == kNoChecks && &driver == &driver_of(device_)) return *kernel_;
  if (!function_) throw std::invalid_argument("[" + kernel_->name + "] The kernel has no checks");
  const std::lock_guard lock(mutex_);
  auto& kernel = others_[{&driver, checks}];
  if (!kernel) kernel = function_->load(driver, checks);
  return *kernel;
}

}  // namespace metal::host

namespace MTL {
namespace {

// The bytes of a component, and how many components; nothing for types that constants cannot have.
struct Layout {
  size_t bytes = 0;
  size_t components = 0;
};

Layout layout_of(DataType type) {
  for (size_t i = 0; i < std::size(metal::host::kDataTypes); ++i) {
    const DataType scalar = metal::host::kDataTypes[i];
    if (type >= scalar && type < scalar + metal::host::kMaxComponents)
      return {metal::kScalarTypes[i].bytes, static_cast<size_t>(type - scalar) + 1};
  }
  return {};
}

// Values of other types are refused when a function is made of them.
std::array<std::uint64_t, 4> value_bits(const void* value, DataType type) {
  std::array<std::uint64_t, 4> bits = {};
  const Layout layout = layout_of(type);
  for (size_t component = 0; component < layout.components; ++component) {
    std::memcpy(&bits[component], static_cast<const char*>(value) + component * layout.bytes,
                layout.bytes);
  }
  return bits;
}

}  // namespace

CompileOptions* CompileOptions::alloc() { return new CompileOptions; }

void CompileOptions::setPreprocessorMacros(const NS::Dictionary* macros) {
  macros_ = NS::RetainPtr(const_cast<NS::Dictionary*>(macros));
}

void CompileOptions::addIncludeDirectory(const NS::String* path) {
  include_directories_.push_back(NS::RetainPtr(path));
}

const NS::String* CompileOptions::includeDirectory(NS::UInteger index) const {
  return include_directories_[index].get();
}

void CompileOptions::setSourcePath(const NS::String* path) { source_path_ = NS::RetainPtr(path); }

FunctionConstantValues* FunctionConstantValues::alloc() { return new FunctionConstantValues; }

void FunctionConstantValues::setConstantValue(const void* value, DataType type,
                                              NS::UInteger index) {
  values_.push_back({{}, index, type, value_bits(value, type)});
}

void FunctionConstantValues::setConstantValue(const void* value, DataType type,
                                              const NS::String* name) {
  values_.push_back({NS::RetainPtr(name), 0, type, value_bits(value, type)});
}

void FunctionConstantValues::setConstantValues(const void* values, DataType type, NS::Range range) {
  const Layout layout = layout_of(type);
  // A vector of three takes the place of four.
  const size_t stride = layout.bytes * std::bit_ceil(layout.components);
  for (NS::UInteger i = 0; i < range.length; ++i) {
    setConstantValue(static_cast<const char*>(values) + i * stride, type, range.location + i);
  }
}

}  // namespace MTL
