// metal::Device: libraries, kernels and command encoders of the Metal device.
#pragma once

#include <dlfcn.h>

#include <Metal/Metal.hpp>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "mlx/array.h"
#include "mlx/backend/metal/command_encoder.h"
#include "mlx/stream.h"

namespace mlx::core::metal {

// Function constants: pointer to the value, type, index.
using MTLFCList = std::vector<std::tuple<const void*, MTL::DataType, NS::UInteger>>;

// The path of NAME.metallib beside the binary that calls this.
static inline std::string get_colocated_mtllib_path(const std::string& name) {
  Dl_info info;
  std::string folder = ".";
  if (dladdr(reinterpret_cast<void*>(&get_colocated_mtllib_path), &info) && info.dli_fname) {
    std::string file = info.dli_fname;
    auto slash = file.rfind('/');
    folder = slash == std::string::npos ? "." : file.substr(0, slash);
  }
  return folder + "/" + name + ".metallib";
}

class Device {
 public:
  explicit Device(MTL::Device* device);  // takes over a reference
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  MTL::Device* mtl_device() { return device_.get(); }
  const std::string& get_architecture() const { return architecture_; }
  int get_architecture_gen() const { return 0; }  // no generation of Apple's GPUs

  // Makes the state of a stream, whose work one of the GPUs, or the host, runs.
  void add_stream(Stream stream);
  // Returns the encoder of a stream.
  CommandEncoder& get_command_encoder(int index);
  MTL::CommandBuffer* get_command_buffer(int index);
  void end_encoding(int index);
  void commit_command_buffer(int index);
  void add_temporary(array a, int index) { get_command_encoder(index).add_temporary(std::move(a)); }
  void add_temporaries(std::vector<array> arrays, int index) {
    get_command_encoder(index).add_temporaries(std::move(arrays));
  }
  StreamState& get_stream(int index);
  // Waits until what was committed has run, and calls `poll` meanwhile unless it is empty.
  void wait_for_streams(const std::function<void()>& poll);
  // For the child of a fork, where no thread holds a lock.
  void start_anew();
  // Somebody waits until work has completed.
  void complete_soon();

  // Loads NAME.metallib (or a library made from source) once; later calls find it by name. If two
  // packages give libraries in different folders the same name, the name means the library that was
  // registered last, or loaded last with its path.
  void register_library(const std::string& name, const std::string& path);
  void register_library(
      const std::string& name,
      const std::function<std::string(const std::string&)>& path = get_colocated_mtllib_path);
  // `path`: the library file, or the folder that holds it; without it, beside libmlx.
  MTL::Library* get_library(const std::string& name, const std::string& path = "");
  MTL::Library* get_library(const std::string& name, const std::function<std::string()>& source);
  void clear_library(const std::string& name);

  // Returns a function of a library, specialised by constants. `hash_name` names the
  // specialisation.
  MTL::ComputePipelineState* get_kernel(const std::string& base_name, MTL::Library* library,
                                        const std::string& hash_name = "",
                                        const MTLFCList& constants = {});
  // `library`: a registered name. By default the kernels of the array core.
  MTL::ComputePipelineState* get_kernel(const std::string& base_name,
                                        const std::string& library = "mlx",
                                        const std::string& hash_name = "",
                                        const MTLFCList& constants = {});

 private:
  std::vector<StreamState*> all_streams();
  MTL::Library* find_library(const std::string& name);
  MTL::Library* load_file(const std::string& path);

  NS::SharedPtr<MTL::Device> device_;
  std::string architecture_;
  std::mutex stream_mutex_;
  std::unordered_map<int, std::unique_ptr<StreamState>> streams_;
  // The states of the first streams. Each operation looks for its stream several times, and finds
  // these without the lock.
  static constexpr int kFirstStreams = 64;
  std::array<std::atomic<StreamState*>, kFirstStreams> first_streams_{};
  std::recursive_mutex library_mutex_;
  std::unordered_map<std::string, NS::SharedPtr<MTL::Library>> libraries_;  // by name
  std::unordered_map<std::string, NS::SharedPtr<MTL::Library>> files_;      // by folder and name
  std::unordered_map<MTL::Library*,
                     std::unordered_map<std::string, NS::SharedPtr<MTL::ComputePipelineState>>>
      kernels_;
};

// Both types of device are the same one, unless the GPU's kernels do not run on the host. All GPUs
// share one: its libraries and kernels run on each.
Device& device(mlx::core::Device d = mlx::core::Device::gpu);
// The Metal device that runs the work of this device's streams, and has its memory.
NS::SharedPtr<MTL::Device> mtl_device_of(mlx::core::Device d);
std::set<Device*> all_devices();
CommandEncoder& get_command_encoder(Stream s);

// What is autoreleased lives as long as this.
inline NS::SharedPtr<NS::AutoreleasePool> new_scoped_memory_pool() {
  return NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
}

// The names by which older extensions bind arrays.
inline void set_array_buffer(CommandEncoder& encoder, const array& a, int index) {
  encoder.set_input_array(a, index);
}

}  // namespace mlx::core::metal

namespace mlx::core {
using metal::set_array_buffer;
}
