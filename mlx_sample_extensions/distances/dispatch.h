// Calls templates with types and constants that are only known at run time.
#pragma once

#include "distances/primitives.h"

namespace mlx_sample {

// Calls f<metric>().
template <typename F>
void with_metric(Metric metric, F&& f) {
  switch (metric) {
    case Metric::Euclidean:
      return f.template operator()<Metric::Euclidean>();
    case Metric::SquaredEuclidean:
      return f.template operator()<Metric::SquaredEuclidean>();
    case Metric::Manhattan:
      return f.template operator()<Metric::Manhattan>();
    case Metric::Cosine:
      return f.template operator()<Metric::Cosine>();
  }
}

// Calls f(T()), where T is the points' type.
template <typename F>
void with_type(mx::Dtype dtype, F&& f) {
  if (dtype == mx::float32) {
    f(float());
  } else if (dtype == mx::float16) {
    f(mx::float16_t());
  } else {
    f(mx::bfloat16_t());
  }
}

}  // namespace mlx_sample
