"""Declarations and casts in all their spellings: each row is a statement and the number that it gives."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one

HEADER = """
    using namespace metal;
    struct Row { float a; float b[3]; float of(int k) const { return b[k]; } };
    constant int table[] = {10, 20, 30};
    constant constexpr int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
    static constant const int one = 100;
    const constant int two = 200;
    constexpr constant int three = 300;
    int constant four = 400;
    constant alignas(16) int aligned[2] = {800, 900};
    namespace inner { constant int five = 500; namespace { constant int six = 600; } }
    template <typename T, int N = (3 > 2) ? 2 : 4> struct Box { T items[N]; };
    struct Holder {
      static constant constexpr int size = 7;
      static constexpr constant int sizes[2] = {8, 9};
      int n;
      Holder(int m) thread : n(m) {}
      Holder(int m, int k) : n(m * k) {}
      explicit Holder(constant int* from) : n(*from) {}
      template <typename T> Holder(T a, T b, T c) thread : n(a + b + c) {}
      constexpr int get() const thread { return n; }
    };
    int sum(constant int a[3]) { return a[0] + a[1] + a[2]; }
    int sum_of_any(constant int a[], int count = 3) {
      int s = 0;
      for (int k = 0; k < count; ++k) s += a[k];
      return s;
    }
    int corner(constant int a[2][3]) { return a[1][2]; }
    int edge(const constant int a[][3], int k) { return a[k][0]; }
    float last(threadgroup float a[4], int of[1]) { return a[of[0]]; }
    int pick(constant int a[2 + 1], constant int b[(2 > 1) ? 3 : 1]) { return a[1] + b[2]; }
    int nested(constant int a[Holder::sizes[0]], constant int b[grid[0][2]]) { return a[1] + b[2]; }
    int rows(constant int a[grid[0][1]][grid[0][2]], int k) { return a[k][k + 1]; }
    int with_default(constant int a[3] = table, constant int* b = table) { return a[2] - b[0]; }
    int twice(int k) { return 2 * k; }
    int apply(int (&local)[3], int k) { return local[k]; }
"""

VARIABLES = {
    "threadgroup float x[4]; x[lane] = lane; v = x[lane];": "lane",
    "float threadgroup x[4]; x[lane] = lane; v = x[lane];": "lane",
    "threadgroup float x[2][4]; x[1][lane] = lane; v = x[1][lane];": "lane",
    "threadgroup float x, y; x = 3; y = 4; v = x + y;": 7,
    "threadgroup float x[4], y[4]; x[lane] = lane; y[lane] = 2; v = x[lane] * y[lane];": "2 * lane",
    "threadgroup array<int, (1 > 2) ? 2 : 4> x; x[lane] = lane; v = x[lane];": "lane",
    "threadgroup array<array<int, 4>, 2> x; x[1][lane] = lane; v = x[1][lane];": "lane",
    "threadgroup Box<Box<int, 4>> x; x.items[1].items[lane] = lane; v = x.items[1].items[lane];":
        "lane",
    "threadgroup Box<float, sizeof(int)> x; x.items[lane] = lane; v = x.items[lane];": "lane",
    # What follows a declaration must not decide about it.
    "threadgroup array<float, 4> x; twice(2); x[lane] = lane; v = x[lane];": "lane",
    "threadgroup array<float, 1>* x = (threadgroup array<float, 1>*)shared + lane; float k = lane;"
    "(*x)[0] = k; v = shared[lane];": "lane",
    "threadgroup float x; float* p = &v; x = 4; *p = x;": 4,
    "threadgroup float* x = shared + lane, *y; float k[1] = {float(lane)}; y = x; *y = k[0];"
    "v = *x;": "lane",
    "threadgroup decltype(1.5f) x[4]; x[lane] = 2.5f; v = x[lane];": 2.5,
    "alignas(16) threadgroup float x[4]; x[lane] = lane; v = x[lane];": "lane",
    "threadgroup alignas(16) float x[4]; x[lane] = lane; v = x[lane];": "lane",
    "threadgroup char c; threadgroup alignas(64) float x[4]; x[lane] = lane; c = 1;"
    "v = x[lane] + float(ulong(x) % 64);": "lane",
    "threadgroup alignas(int4) char x[4], y[4]; x[lane] = lane; y[lane] = 2; v = x[lane] * y[lane];":
        "2 * lane",
    "threadgroup alignas(16) array<float, 4> x; x[lane] = lane; v = x[lane];": "lane",
    "const threadgroup alignas(16) float* x = shared; v = 2;": 2,
    "constant alignas(16) int x[2] = {5, 6}; v = x[lane % 2] + float(ulong(x) % 16);":
        "5 + lane % 2",
    "static constant alignas(32) int x[] = {5, 6, 7}; v = x[2] + float(ulong(x) % 32);": 7,
    "thread alignas(16) float x[4]; x[0] = 3; v = x[0];": 3,
    "v = aligned[1];": 900,
    "threadgroup struct Row x; x.a = 5; v = x.a;": 5,
    "switch (0) { case 0: threadgroup float x[4]; x[lane] = lane; v = x[lane]; }": "lane",
    "{ threadgroup float x[4]; x[lane] = lane; v = x[lane]; } v += 1;": "lane + 1",
    "threadgroup float* x = shared + lane; *x = lane; v = *x;": "lane",
    "threadgroup float& x = shared[lane]; x = lane; v = x;": "lane",
    "threadgroup float* const x = shared + lane; *x = lane; v = *x;": "lane",
    "threadgroup float (*x)[2] = (threadgroup float (*)[2])shared; x[lane / 2][lane % 2] = lane;"
    "v = shared[lane];": "lane",
    "constant int* x = table + lane % 3; v = *x;": "10 * (lane % 3 + 1)",
    "const constant int* x = table + lane % 3; v = x[0];": "10 * (lane % 3 + 1)",
    "for (constant int* x = table; x != table + 3; ++x) v += *x;": 60,
    "constant int x = 5; v = x;": 5,
    "const constant int x[2] = {5, 6}; v = x[1];": 6,
    "constexpr constant int x[2] = {5, 6}; v = x[lane % 2];": "5 + lane % 2",
    "static constant int x[] = {5, 6, 7}; v = x[2];": 7,
    "constant int x{5}, y(6); v = x * y;": 30,
    "auto constant& x = table[2]; v = x;": 30,
    "using Words = threadgroup float*; Words x = shared + lane; *x = lane; v = *x;": "lane",
    "typedef threadgroup float* Words; Words x = shared + lane; *x = lane; v = *x;": "lane",
    "v = one + two + three + four + inner::five + inner::six;": 2100,
    "v = Holder::size + Holder::sizes[1];": 16,
    "v = Holder(4).get() + Holder(2, 3).n + Holder(table).n + Holder(1, 2, 3).n;": 26,
    "v = sum(table) + sum_of_any(table) + sum_of_any(table, 2);": 150,
    "v = corner(grid) + edge(grid, 1) + pick(table, grid[0]);": 6 + 4 + 23,
    "v = nested(table, table) + rows(grid, 1) + with_default();": 20 + 30 + 6 + 20,
    "shared[lane] = lane; int k[1] = {int(lane)}; v = last(shared, k);": "lane",
    "int k[3] = {1, 2, 3}; v = apply(k, 2);": 3,
    "int thread* p = nullptr; int q = 4; p = &q; v = *p;": 4,
}  # fmt: skip

CASTS = {
    "v = (half)b;": "lane + 1",
    "v = half(b);": "lane + 1",
    "v = half{static_cast<half>(b)};": "lane + 1",
    "v = static_cast<half>(b + b);": "2 * (lane + 1)",
    "v = (half)-b;": "-(lane + 1)",
    "v = (half)+b * 2;": "2 * (lane + 1)",
    "v = (half)*&b;": "lane + 1",
    "v = (half)(b + b) + 1;": "2 * (lane + 1) + 1",
    "v = (half)list[1];": "lane + 2",
    "v = (half)list[table[0] / 10] - 1;": "lane + 1",
    "v = (half)pair.second;": "lane + 3",
    "v = (half)(&pair)->second * 2;": "2 * (lane + 3)",
    "v = (half)pairs[0].list[1] + 1;": "lane + 5",
    "v = (half)twice(b);": "2 * (lane + 1)",
    "v = (half)twice(twice(b)) - twice(1);": "4 * (lane + 1) - 2",
    "v = (half)inside::n + 1;": 4,
    "v = half((bfloat)h + b);": "2 * (lane + 1)",
    "v = (half)(bfloat)h;": "lane + 1",
    "v = (half)-(-b);": "lane + 1",
    "bfloat c = b; v = (half)++c - 1;": "lane + 1",
    "v = (bfloat)h;": "lane + 1",
    "v = bfloat(h) < (bfloat)(h + h) ? 1 : 0;": 1,
    "v = static_cast<bfloat>((half)b);": "lane + 1",
    "v = lane > 1u ? (half)b : h;": "lane + 1",
    # Vectors of one component.
    "v = half3(b).z + bfloat2(h).y;": "2 * (lane + 1)",
    "v = ((half4)b * static_cast<half4>(b + b)).w + packed_half3(b).x;": "2 * (lane + 1) ** 2 + lane + 1",
    # Where a declaration could begin, Clang parses the cast twice.
    "v = (half(b) + h);": "2 * (lane + 1)",
    "if (half(b) > 1.5h) v = 1;": "lane > 0",
    "if ((bfloat(half(h + h)) > 2.bf && (half(twice(b))) > 1.h)) v = 1;": "lane > 0",
    "for (int k = 0; (half(b)) > half(k); ++k) v += 1;": "lane + 1",
    "half c(half(b + b)); v = (half(twice(bfloat(h)))) + c;": "4 * (lane + 1)",
    "auto f = [](bfloat q) { return (half(inside::n + q)); }; v = f(b);": "lane + 4",
    "half w = h; while ((bfloat(w)) < 3.bf) w += 1.h; v = w;": "max(lane + 1, 3)",
    # Clang converts one operand to the other's type.
    "v = h + b;": "2 * (lane + 1)",
    "v = b * h - h;": "(lane + 1) * lane",
    "half c = h; c += b; v = c;": "2 * (lane + 1)",
    "bfloat c = b; c *= h; v = c;": "(lane + 1) ** 2",
    "v = lane > 1u ? h : b;": "lane + 1",
    "v = h < b + b ? 1 : 2;": 1,
}
# Explicit conversions, so that they do not need a cast.
CASTS |= {
    "bfloat c(h); v = float(c);": "lane + 1",
    "half c(b); v = float(c);": "lane + 1",
    "bfloat c(h + h), d(h); v = float(c) + float(d);": "3 * (lane + 1)",
    "half c(list[1] + b); v = float(c);": "2 * lane + 3",
    "Small s(h); v = float(s.value);": "lane + 1",
}
CAST_HEADER = """
    using namespace metal;
    constant int table[] = {10, 20, 30};
    struct Pair { bfloat first, second; bfloat list[2]; };
    struct Small { bfloat value; Small(half x) : value(x) {} };
    bfloat twice(bfloat x) { return x + x; }
    int twice(int x) { return x + x; }
    namespace inside { constant bfloat n = 3; }
"""
CAST_VALUES = """
    bfloat b = bfloat(float(lane + 1)); half h = half(float(lane + 1));
    bfloat list[2] = {b, bfloat(float(lane + 2))};
    Pair pair = {b, bfloat(float(lane + 3)), {b, bfloat(float(lane + 4))}};
    Pair pairs[1] = {pair};
"""
LANES = 4


def check(rows: dict[str, object], header: str, values: str) -> None:
    """Each row in a block of its own; together they are one kernel."""
    blocks = [
        f"{{ float v = 0; {statement}\nthreadgroup_barrier(mem_flags::mem_threadgroup);"
        f"out[{i} * {LANES} + lane] = v; }}"
        for i, statement in enumerate(rows)
    ]
    body = f"uint lane = thread_position_in_grid.x; {values}\n" + "\n".join(blocks)
    shape = (len(rows), LANES)
    got = run_one(body, {}, {"out": (shape, mx.float32)}, LANES, header=header)
    for (statement, value), row in zip(rows.items(), got.reshape(shape), strict=True):
        want = [
            eval(value, {"lane": lane}) if isinstance(value, str) else value
            for lane in range(LANES)
        ]
        np.testing.assert_array_equal(row, want, err_msg=statement)


def test_variables_and_parameters():
    check(VARIABLES, HEADER, "threadgroup float shared[4];")


METHODS = """
    float get() const SPACE { return value; }
    void set(float x) SPACE { value = x; }
    void operator=(float x) SPACE { value = x; }
    SPACE float& operator[](int) SPACE { return value; }
    SPACE Cell& operator+=(float x) SPACE { value += x; return *this; }
    SPACE Cell& operator++() SPACE { value += 1; return *this; }
    float operator()(float x) SPACE { return value += x; }
    template <typename T> T as() const SPACE { return T(value); }
"""


@pytest.mark.parametrize("space", ["thread", "threadgroup", "device"])
def test_methods_for_each_address_space(space: str):
    """The method of the object's own address space is called: each adds another number."""
    numbers = {"device": 1000, "threadgroup": 2000, "thread": 3000}
    methods = "".join(
        METHODS.replace("SPACE", name) + f"int space() const {name} {{ return {number}; }}\n"
        for name, number in numbers.items()
    )
    header = f"struct Cell {{ float value; {methods} }};"
    declaration = (
        "device Cell& c = *(device Cell*)out;" if space == "device" else f"{space} Cell c;"
    )
    body = f"""
        {declaration}
        c.set(1); c = c.get() + 1; c[0] = c[0] * 10; c += 2; ++c;
        float called = c(4);
        out[1] = called; out[2] = c.get(); out[3] = c.as<int>(); out[4] = c.space();
        out[0] = 0;
    """
    got = run_one(body, {}, {"out": ((5,), mx.float32)}, 1, header=header)
    np.testing.assert_array_equal(got, [0, 27, 27, 27, numbers[space]])


def test_casts_between_half_and_bfloat():
    check(CASTS, CAST_HEADER, CAST_VALUES)


@pytest.mark.parametrize(
    "statement",
    [
        "threadgroup float f(int x);  out[0] = x;",
        "using threadgroup float T;",
        "double x = 1;",
        'asm("nop");',
        "constant int x; x = 1;",
        "constant int x = 1; x = 2;",
        "static threadgroup float* x = nullptr; *x = 1; out[0] = y;",
    ],
)
def test_what_is_no_declaration(statement: str):
    with pytest.raises(RuntimeError, match="kernel_under_test:1:.*error"):
        run_one(statement, {}, {"out": ((1,), mx.float32)}, 1)
