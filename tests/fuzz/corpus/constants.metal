#include <metal_stdlib>
constant int kSize [[function_constant(0)]];
constant bool has_bias [[function_constant(1)]];
constant int kDouble = is_function_constant_defined(kSize) ? 2 * kSize : 1;
constexpr constant uint kTable[2][3] = {{1, 2, 3}, {4}};
kernel void f(device int* x [[buffer(0)]], const device int* bias [[buffer(1), function_constant(has_bias)]]) {
  x[0] = kDouble + kTable[1][0];
  if (has_bias) x[0] += bias[0];
}
