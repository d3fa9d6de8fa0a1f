// Sorting along an axis (axis >= 0). NaNs come last. Arg forms give uint32.
#pragma once

#include "mlx/primitives/primitive.h"

namespace mlx::core {

#define SORT_PRIMITIVE(PRIMITIVE)                                                        \
  class PRIMITIVE : public UnaryPrimitive {                                              \
   public:                                                                               \
    explicit PRIMITIVE(Stream stream, int axis) : UnaryPrimitive(stream), axis_(axis) {} \
    DEFINE_EVAL()                                                                        \
    DEFINE_GRADS()                                                                       \
    DEFINE_VMAP()                                                                        \
    DEFINE_NAME(PRIMITIVE)                                                               \
    DEFINE_STATE(PRIMITIVE, axis_)                                                       \
    DEFINE_INPUT_OUTPUT_SHAPE()                                                          \
                                                                                         \
   private:                                                                              \
    int axis_;                                                                           \
  };

// Both sorts are stable.
SORT_PRIMITIVE(Sort)
SORT_PRIMITIVE(ArgSort)
#undef SORT_PRIMITIVE

// Element kth (>= 0) is where sorting would put it, smaller elements before it, larger ones after
// it.
#define PARTITION_PRIMITIVE(PRIMITIVE)                      \
  class PRIMITIVE : public UnaryPrimitive {                 \
   public:                                                  \
    explicit PRIMITIVE(Stream stream, int kth, int axis)    \
        : UnaryPrimitive(stream), kth_(kth), axis_(axis) {} \
    DEFINE_EVAL()                                           \
    DEFINE_GRADS()                                          \
    DEFINE_VMAP()                                           \
    DEFINE_NAME(PRIMITIVE)                                  \
    DEFINE_STATE(PRIMITIVE, kth_, axis_)                    \
    DEFINE_INPUT_OUTPUT_SHAPE()                             \
                                                            \
   private:                                                 \
    int kth_;                                               \
    int axis_;                                              \
  };

PARTITION_PRIMITIVE(Partition)
PARTITION_PRIMITIVE(ArgPartition)
#undef PARTITION_PRIMITIVE

}  // namespace mlx::core
