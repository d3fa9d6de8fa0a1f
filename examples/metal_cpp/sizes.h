// What the host tells the kernel; included by both.
#pragma once

struct Sizes {
  float factor;
};
