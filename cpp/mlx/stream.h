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

inline bool operator==(const Stream& a, const Stream& b) { return a.index == b.index; }
inline bool operator!=(const Stream& a, const Stream& b) { return !(a == b); }
inline bool operator<(const Stream& a, const Stream& b) { return a.index < b.index; }

Stream default_stream(Device d);
void set_default_stream(Stream s);
Stream new_stream(Device d);
Stream new_stream();
Stream get_stream(int index);
std::vector<Stream> get_streams();

// Waits until everything scheduled on the stream (by default the default device's) has run.
void synchronize();
void synchronize(Stream s);

}  // namespace mlx::core
