// MLX_API marks what a shared library offers.
#pragma once

#define MLX_API __attribute__((visibility("default")))
