// Compiled source, its functions, and pipelines ready to run.
#pragma once

#include <array>

#include "Metal/Types.hpp"

#pragma GCC visibility push(default)
namespace MTL {

class Device;

class CompileOptions : public NS::Referencing<CompileOptions> {
 public:
  static CompileOptions* alloc();
  CompileOptions* init() { return this; }

  MathMode mathMode() const { return math_mode_; }
  void setMathMode(MathMode mode) { math_mode_ = mode; }
  bool fastMathEnabled() const { return math_mode_ == MathModeFast; }
  void setFastMathEnabled(bool fast) { math_mode_ = fast ? MathModeFast : MathModeSafe; }
  LanguageVersion languageVersion() const { return language_version_; }
  void setLanguageVersion(LanguageVersion version) { language_version_ = version; }
  NS::Dictionary* preprocessorMacros() const { return macros_.get(); }
  void setPreprocessorMacros(const NS::Dictionary* macros);

  // Not in metal-cpp: folders that quoted includes may reach, and the source's own path, which
  // diagnostics name and relative includes start from.
  void addIncludeDirectory(const NS::String* path);
  NS::UInteger includeDirectoryCount() const { return include_directories_.size(); }
  const NS::String* includeDirectory(NS::UInteger index) const;
  void setSourcePath(const NS::String* path);
  const NS::String* sourcePath() const { return source_path_.get(); }

 protected:
  CompileOptions() = default;

 private:
  MathMode math_mode_ = MathModeSafe;
  LanguageVersion language_version_ = static_cast<LanguageVersion>(0);  // the newest
  NS::SharedPtr<NS::Dictionary> macros_;
  std::vector<NS::SharedPtr<const NS::String>> include_directories_;
  NS::SharedPtr<const NS::String> source_path_;
};

class FunctionConstantValues : public NS::Referencing<FunctionConstantValues> {
 public:
  static FunctionConstantValues* alloc();
  FunctionConstantValues* init() { return this; }

  void setConstantValue(const void* value, DataType type, NS::UInteger index);
  void setConstantValue(const void* value, DataType type, const NS::String* name);
  // Values that lie one behind the other.
  void setConstantValues(const void* values, DataType type, NS::Range range);
  void reset() { values_.clear(); }

  struct Value {
    NS::SharedPtr<const NS::String> name;  // null: by index
    NS::UInteger index;
    DataType type;
    std::array<std::uint64_t, 4> bits;  // of each component
  };
  const std::vector<Value>& values() const { return values_; }

 protected:
  FunctionConstantValues() = default;

 private:
  std::vector<Value> values_;
};

class Function : public NS::Referencing<Function> {
 public:
  virtual NS::String* name() const = 0;
  virtual Device* device() const = 0;
  // What errors of its pipelines call it: its name unless another is set.
  virtual NS::String* label() const = 0;
  virtual void setLabel(const NS::String* label) = 0;
};

class Library : public NS::Referencing<Library> {
 public:
  virtual NS::Array* functionNames() const = 0;
  virtual Device* device() const = 0;
  // Owned by the caller; null where the library has no such function. With `error`, which then
  // lists what it has, `constants` may be null.
  virtual Function* newFunction(const NS::String* name) = 0;
  virtual Function* newFunction(const NS::String* name, const FunctionConstantValues* constants,
                                NS::Error** error) = 0;
};

class ComputePipelineState : public NS::Referencing<ComputePipelineState> {
 public:
  virtual Device* device() const = 0;
  virtual NS::String* label() const = 0;  // the function's
  virtual NS::UInteger maxTotalThreadsPerThreadgroup() const = 0;
  virtual NS::UInteger threadExecutionWidth() const = 0;
  virtual NS::UInteger staticThreadgroupMemoryLength() const = 0;

  // Not in metal-cpp. Promises that every launch ends soon: the thread that waits for it may run it
  // itself.
  virtual void setBounded() = 0;
};

}  // namespace MTL
#pragma GCC visibility pop
