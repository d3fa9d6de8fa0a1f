// The parameters of the kernel; included by the host and the kernel.
#pragma once

struct Sizes {
  float factor;
};
