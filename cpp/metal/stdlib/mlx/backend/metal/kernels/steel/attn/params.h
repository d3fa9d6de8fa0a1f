// What the host tells attention kernels. Strides count elements.
#pragma once

#ifndef __METAL_VERSION__
#include <cstdint>
#endif

namespace mlx {
namespace steel {

struct AttnParams {
  int B;  // batches
  int H;  // heads of queries
  int D;  // elements of a head

  int qL;  // queries
  int kL;  // keys

  int gqa_factor;  // heads of queries for one of keys
  float scale;

  int NQ;  // blocks of queries
  int NK;  // and of keys

  int NQ_aligned;  // whole blocks of them
  int NK_aligned;

  int qL_rem;  // what the last block has
  int kL_rem;
  int qL_off;  // keys before the first query's own, for causal masks

  int64_t Q_strides[3];  // between batches, heads and rows
  int64_t K_strides[3];
  int64_t V_strides[3];
  int64_t O_strides[3];
};

struct AttnMaskParams {
  int64_t M_strides[3];  // between batches, heads and rows of queries
};

}  // namespace steel
}  // namespace mlx
