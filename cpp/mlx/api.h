// MLX_API exports a name from a shared library.
#pragma once

#define MLX_API __attribute__((visibility("default")))
