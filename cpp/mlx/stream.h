// Streams: work of one stream runs in order; different streams run concurrently.
#pragma once

#include <vector>

#include "mlx/device.h"

namespace mlx::core {

struct Stream {
  int index;
  Device device;
  explicit Stream(int index, Device device) : index(index), device(device) {}
};

// Stands for a stream of its own in each thread that uses it.
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
void set_default_stream(Stream s);
Stream new_stream(Device d);
Stream new_stream();
// The same as new_stream: every stream may be used by any thread.
Stream new_thread_unsafe_stream(Device d);
ThreadLocalStream new_thread_local_stream(Device d);
// This thread's, made when it is first asked for.
Stream to_stream(ThreadLocalStream s);
// Waits for the streams that this thread has made, and gives up what they hold: they can be used no
// more. Streams that are a device's default stay.
void clear_streams();
Stream get_stream(int index);
std::vector<Stream> get_streams();

// Waits until everything scheduled on the stream (by default the default device's) has run.
void synchronize();
void synchronize(Stream s);

}  // namespace mlx::core
