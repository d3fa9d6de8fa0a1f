// The inputs that primitives accept: those of every operation, but not another number of them.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "mlx/cases.h"
#include "mlx/compile/fits.h"
#include "mlx/ops/creation.h"
#include "mlx/primitives/fft.h"
#include "mlx/primitives/shape.h"
#include "mlx/stream.h"
#include "mlx/transforms.h"

namespace mlx::core::test {
namespace {

// All computed arrays that the results depend on.
std::vector<array> computed(const std::vector<array>& results) {
  std::vector<array> found;
  std::set<std::uintptr_t> seen;
  std::function<void(const array&)> visit = [&](const array& a) {
    if (!a.has_primitive() || !seen.insert(a.id()).second) return;
    found.push_back(a);
    for (const array& input : a.inputs()) visit(input);
  };
  for (const array& result : results) visit(result);
  return found;
}

void expect_fits_only(const array& a) {
  // These accept any number of inputs.
  const std::set<std::string> of_any_number{"Broadcast", "BroadcastAxes", "Concatenate", "Depends"};
  const std::string name = a.primitive().name();
  std::vector<array> inputs = a.inputs();
  EXPECT_TRUE(fits(a.primitive(), inputs)) << name;
  if (of_any_number.contains(name) || inputs.empty()) return;
  const array last = inputs.back();
  inputs.push_back(last);
  EXPECT_FALSE(fits(a.primitive(), inputs)) << name << " with one input more";
  inputs.resize(inputs.size() - 2, last);
  EXPECT_FALSE(fits(a.primitive(), inputs)) << name << " with one input less";
  EXPECT_FALSE(fits(a.primitive(), {})) << name << " without inputs";
}

TEST(Fits, TheInputsOfEveryOperation) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const auto results = c.fun(c.inputs);
    for (const array& a : computed(results)) expect_fits_only(a);
    for (const array& a : computed(vjp(c.fun, c.inputs, results).second)) expect_fits_only(a);
  }
}

// Damaged files may contain such nodes.
TEST(Fits, LengthsOfNothingAndAxesThatInputsLack) {
  const Stream s = default_stream(Device::cpu);
  const array rows = zeros({2, 6});
  EXPECT_TRUE(fits(Unflatten(s, 1, {3, -1}), {rows}));
  EXPECT_FALSE(fits(Unflatten(s, 1, {4, -1}), {rows}));
  EXPECT_FALSE(fits(Unflatten(s, 1, {0, -1}), {rows}));
  EXPECT_FALSE(fits(Unflatten(s, 2, {3, -1}), {rows}));
  for (const auto kind : {FFTKind::Complex, FFTKind::RealToComplex, FFTKind::ComplexToReal}) {
    EXPECT_TRUE(fits(FFT(s, kind, {1}, false, 10, 1.0), {rows}));
    EXPECT_FALSE(fits(FFT(s, kind, {2}, false, 10, 1.0), {rows}));
    EXPECT_FALSE(fits(FFT(s, kind, {-1}, false, 10, 1.0), {rows}));
  }
}

}  // namespace
}  // namespace mlx::core::test
