// Streams: the work of one stream runs in order; different streams run concurrently.
#pragma once

#include <optional>
#include <vector>

#include "mlx/device.h"

namespace mlx::core {

struct Stream {
  int index;
  Device device;
  explicit Stream(int index, Device device) : index(index), device(device) {}
};

// A handle that means a different stream in each thread that uses it.
struct ThreadLocalStream {
  int index;
  Device device;
  explicit ThreadLocalStream(int index, Device device) : index(index), device(device) {}
};

inline bool operator==(const ThreadLocalStream& a, const ThreadLocalStream& b) {
  return a.index == b.index;
}
inline bool operator!=(const ThreadLocalStream& a, const ThreadLocalStream& b) { return !(a == b); }

inline bool operator==(const Stream& a, const Stream& b) { return a.index == b.index; }
inline bool operator!=(const Stream& a, const Stream& b) { return !(a == b); }
inline bool operator<(const Stream& a, const Stream& b) { return a.index < b.index; }

Stream default_stream(Device d);
// Nothing if the device has no default stream yet: default_stream creates one.
std::optional<Stream> peek_default_stream(Device d);
void set_default_stream(Stream s);
Stream new_stream(Device d);
Stream new_stream();
// The same as new_stream: every stream may be used by any thread.
Stream new_thread_unsafe_stream(Device d);
// A stream that belongs to no thread, so that no clear_streams destroys it.
Stream new_process_stream(Device d);
ThreadLocalStream new_thread_local_stream(Device d);
// Returns this thread's stream, which the first call creates.
Stream to_stream(ThreadLocalStream s);
inline Stream stream_from_thread_local_stream(ThreadLocalStream s) { return to_stream(s); }
// Waits for the streams that this thread has created, and releases their resources: they cannot be
// used any more. Default streams of devices are kept.
void clear_streams();
Stream get_stream(int index);
std::vector<Stream> get_streams();

// Waits until everything scheduled on the stream (by default the default device's) has run.
void synchronize();
void synchronize(Stream s);

}  // namespace mlx::core
