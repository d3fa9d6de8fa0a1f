"""The script that the tests of the debugger run. Its kernel has variables of all kinds."""

import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="scale",
    input_names=["x", "n"],
    output_names=["y"],
    header="""enum class Color : uint { red = 1, green = 2 };
struct Pair { float a; int b[2]; };
struct Big : Pair { Color color; };
inline float square(float v) {
  float r = v * v;
  return r;
}
constant float table[3] = {1, 2, 3};
""",
    source="""uint i = thread_position_in_grid.x;
    threadgroup float shared[32];
    uint3 t = thread_position_in_threadgroup;
    float4 v = float4(x[i], 1, 2, 3);
    half h = half(x[i]) / 4;
    bfloat g = bfloat(x[i]);
    Big p;
    p.a = x[i];
    p.b[0] = 5, p.b[1] = -6, p.color = Color::green;
    int m[2][3] = {{1, 2, 3}, {4, 5, 6}};
    const device float* q = x + 2;
    bool flag = i > 2;
    bool3 flags = bool3(true, false, flag);
    packed_float3 packed = packed_float3(1, 2, 3);
    ulong wide = ulong(i) << 40;
    char small = char(-1);
    shared[t.x] = square(v.x);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int k = 0; k < n; ++k) {
      float s = shared[k];
      v.y += s;
    }
    y[i] = v.y + h + g + p.a + table[i % 3] + m[1][i % 3] + q[0] + flags.x + packed.x + wide + small;
""",
)

if __name__ == "__main__":
    (y,) = kernel(
        inputs=[mx.arange(32, dtype=mx.float32), 4],
        grid=(32, 1, 1),
        threadgroup=(16, 1, 1),
        output_shapes=[(32,)],
        output_dtypes=[mx.float32],
    )
    print("y[0] is", y[0].item())
