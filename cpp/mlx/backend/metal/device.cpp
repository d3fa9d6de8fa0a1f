// metal::Device: libraries, kernels and streams.
#include "mlx/backend/metal/device.h"

#include <sys/stat.h>

#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "mlx/backend/metal/stream_state.h"
#include "mlx/fork.h"

namespace mlx::core::metal {

namespace {

std::string describe(NS::Error* error) {
  return error && error->localizedDescription() ? error->localizedDescription()->utf8String()
                                                : "unknown error";
}

NS::String* text(const std::string& value) {
  return NS::String::string(value.c_str(), NS::UTF8StringEncoding);
}

// Releases the objects that Metal returned without ownership during a call.
struct Pool {
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
};

bool is_folder(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

Device::Device(MTL::Device* device) : device_(NS::TransferPtr(device)) {
  if (!device_) {
    throw std::runtime_error("[metal::Device] No Metal device could be opened.");
  }
  architecture_ = device_->name()->utf8String();
}

Device::~Device() = default;

StreamState& Device::get_stream(int index) {
  auto* first = index >= 0 && index < kFirstStreams ? &first_streams_[index] : nullptr;
  if (auto* state = first ? first->load(std::memory_order_acquire) : nullptr) {
    return *state;
  }
  std::lock_guard lock(stream_mutex_);
  auto found = streams_.find(index);
  if (found == streams_.end()) {
    throw std::invalid_argument("[metal::Device] There is no stream " + std::to_string(index) +
                                ".");
  }
  if (first) {
    first->store(found->second.get(), std::memory_order_release);
  }
  return *found->second;
}

void Device::add_stream(Stream stream) {
  auto state = std::make_unique<StreamState>(mtl_device_of(stream.device).get(), stream.index);
  std::lock_guard lock(stream_mutex_);
  streams_.emplace(stream.index, std::move(state));
}

std::vector<StreamState*> Device::all_streams() {
  std::vector<StreamState*> states;
  std::lock_guard lock(stream_mutex_);
  for (auto& [index, state] : streams_) {
    states.push_back(state.get());
  }
  return states;
}

void Device::complete_soon() {
  for (auto* state : all_streams()) {
    if (auto queue = state->queue) queue->completeSoon();
  }
}

void Device::wait_for_streams(const std::function<void()>& poll) {
  for (auto* state : all_streams()) {
    std::lock_guard lock(state->mutex);
    if (state->last) {
      state->last->waitUntilCompleted(poll);
    }
  }
}

void Device::start_anew() {
  auto free_again = [](auto& mutex) { std::construct_at(&mutex); };
  free_again(stream_mutex_);
  free_again(library_mutex_);
  for (auto& [index, state] : streams_) {
    free_again(state->mutex);
  }
}

CommandEncoder& Device::get_command_encoder(int index) { return get_stream(index).handle; }
MTL::CommandBuffer* Device::get_command_buffer(int index) {
  return get_stream(index).command_buffer();
}
void Device::end_encoding(int index) { get_stream(index).end_encoding(); }
void Device::commit_command_buffer(int index) { get_stream(index).commit(); }

MTL::Library* Device::load_file(const std::string& path) {
  Pool pool;
  NS::Error* error = nullptr;
  auto* library = device_->newLibrary(text(path), &error);
  if (!library) {
    throw std::runtime_error("[metal::Device] Unable to load the library " + path + ": " +
                             describe(error));
  }
  return library;
}

MTL::Library* Device::find_library(const std::string& name) {
  auto found = libraries_.find(name);
  return found == libraries_.end() ? nullptr : found->second.get();
}

void Device::register_library(const std::string& name, const std::string& path) {
  get_library(name, path);
}

void Device::register_library(const std::string& name,
                              const std::function<std::string(const std::string&)>& path) {
  get_library(name, path(name));
}

MTL::Library* Device::get_library(const std::string& name, const std::string& path) {
  std::lock_guard lock(library_mutex_);
  auto* known = find_library(name);
  if (known && path.empty()) {
    return known;
  }
  std::string file = path.empty() ? get_colocated_mtllib_path(name) : path;
  auto& library = files_[file + '\n' + name];
  if (!library) {
    library = NS::TransferPtr(load_file(is_folder(file) ? file + "/" + name + ".metallib" : file));
  }
  if (library.get() != known) {
    libraries_[name] = library;
  }
  return library.get();
}

MTL::Library* Device::get_library(const std::string& name,
                                  const std::function<std::string()>& source) {
  std::lock_guard lock(library_mutex_);
  if (auto* library = find_library(name)) {
    return library;
  }
  Pool pool;
  NS::Error* error = nullptr;
  auto* library =
      device_->newLibrary(text(source()), static_cast<const MTL::CompileOptions*>(nullptr), &error);
  if (!library) {
    throw std::runtime_error("[metal::Device] Unable to build the library " + name + ":\n" +
                             describe(error));
  }
  return libraries_.emplace(name, NS::TransferPtr(library)).first->second.get();
}

void Device::clear_library(const std::string& name) {
  std::lock_guard lock(library_mutex_);
  if (auto* library = find_library(name)) {
    kernels_.erase(library);
    std::erase_if(files_, [&](auto& entry) { return entry.second.get() == library; });
    libraries_.erase(name);
  }
}

MTL::ComputePipelineState* Device::get_kernel(const std::string& base_name, MTL::Library* library,
                                              const std::string& hash_name,
                                              const MTLFCList& constants) {
  std::lock_guard lock(library_mutex_);
  auto& kernel = kernels_[library][hash_name.empty() ? base_name : hash_name];
  if (kernel) {
    return kernel.get();
  }
  Pool pool;
  NS::Error* error = nullptr;
  auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  for (auto& [value, type, index] : constants) {
    values->setConstantValue(value, type, index);
  }
  auto function = NS::TransferPtr(library->newFunction(text(base_name), values.get(), &error));
  if (!function) {
    throw std::runtime_error("[metal::Device] Unable to load the kernel " + base_name + ": " +
                             describe(error) + ".");
  }
  kernel = NS::TransferPtr(device_->newComputePipelineState(function.get(), &error));
  if (!kernel) {
    throw std::runtime_error("[metal::Device] Unable to compile the kernel " + base_name + ": " +
                             describe(error));
  }
  if (library == find_library("mlx")) {  // loops of the core's own kernels are bounded by shapes
    kernel->setBounded();
  }
  return kernel.get();
}

MTL::ComputePipelineState* Device::get_kernel(const std::string& base_name,
                                              const std::string& library,
                                              const std::string& hash_name,
                                              const MTLFCList& constants) {
  std::lock_guard lock(library_mutex_);
  auto* named = find_library(library);
  if (!named && library != "mlx") {
    // A second name that is not a library's names the specialisation.
    return get_kernel(base_name, get_library("mlx"), library, constants);
  }
  return get_kernel(base_name, named ? named : get_library("mlx"), hash_name, constants);
}

Device& device(mlx::core::Device d) {
  // Never destroyed: kernels may still run while the process ends.
  static Device* gpu = [] {
    auto* created = new Device(MTL::CreateSystemDefaultDevice());
    watch_forks();
    return created;
  }();
  static Device* cpu = [] {
    auto host = NS::TransferPtr(MTL::CreateHostDevice());
    return host.get() == gpu->mtl_device() ? gpu : new Device(host->retain());
  }();
  return d.type == mlx::core::Device::gpu ? *gpu : *cpu;
}

NS::SharedPtr<MTL::Device> mtl_device_of(mlx::core::Device d) {
  const bool is_host = d.type == mlx::core::Device::cpu;
  return NS::TransferPtr(is_host ? MTL::CreateHostDevice()
                                 : MTL::CreateDevice(static_cast<NS::UInteger>(d.index)));
}

std::set<Device*> all_devices() {
  return {&device(mlx::core::Device::gpu), &device(mlx::core::Device::cpu)};
}

CommandEncoder& get_command_encoder(Stream s) {
  return device(s.device).get_command_encoder(s.index);
}

}  // namespace mlx::core::metal
