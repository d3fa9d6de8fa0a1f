// Parameters of the kernels for matrix products; filled by the host.
#pragma once

#ifndef __METAL_VERSION__
#include <cstdint>
#endif

// alpha a b + beta c: a is (m, k), b (k, n), and c (m, n), row by row. Steps count elements.
struct MatmulParams {
  int64_t a_row, a_column, b_row, b_column;
  int64_t a_matrix, b_matrix;  // between matrices that indices choose
  uint32_t m, n, k;
  uint32_t adds;  // whether beta is not 0
  float alpha, beta;
  uint32_t a_count, b_count;  // matrices that indices choose from
};
