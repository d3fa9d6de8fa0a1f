"""Which sources are mutated, and which tests reach them: quick ones first."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Stage:
    """Targets to build and a command that fails where a test does."""

    targets: tuple[str, ...]
    command: tuple[str, ...]


@dataclass(frozen=True)
class Area:
    name: str
    share: int  # of ten mutations
    sources: tuple[str, ...]  # globs
    stages: tuple[Stage, ...]
    # Where a fault changes how fast code is, and nothing else.
    left_out: frozenset[str] = field(default=frozenset())


PACKAGE = ("package_files",)
PYTEST = ("{python}", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider")


def python_tests(*names: str) -> Stage:
    return Stage(PACKAGE, PYTEST + tuple(f"tests/python/{name}" for name in names))


def cpp_tests(program: str, *arguments: str) -> Stage:
    fail_fast = ("--gtest_fail_fast", "--gtest_brief=1")
    return Stage((program,), (f"{{build}}/tests/cpp/{program}", *fail_fast, *arguments))


def ir_tests(prefix: str) -> Stage:
    """The .ll files that kernel_opt runs passes on."""
    ctest = ("ctest", "--test-dir", "{build}", "-R", f"^{prefix}[.]", "--output-on-failure")
    return Stage(("kernel_opt",), ctest)


# The same programs in all forms of code, and the ones that once differed.
RANDOM_PROGRAMS = Stage(("program_runner",), (*PYTEST, "tests/python/test_random_programs.py"))
SLOW = "Compile.SourcesThatExplode*"
VECTORIZER = "cpp/metal/cpu/vectorizer"

AREAS = (
    Area(
        "vectorizer",
        4,
        (f"{VECTORIZER}/**/*.cpp",),
        (
            ir_tests("vectorizer"),
            cpp_tests("metal_tests", f"--gtest_filter=-{SLOW}"),
            RANDOM_PROGRAMS,
            python_tests("msl"),
            python_tests("kernels", "test_seed_pages.py"),
            python_tests("test_vector_code_listing.py", "test_kernels_in_the_wild_numbers.py"),
            python_tests("test_processors.py"),
        ),
        frozenset(
            f"{VECTORIZER}/{name}.cpp"
            for name in (
                "prefetch/prefetch_slice",
                "prefetch/prefetch_ahead",
                "prefetch/stride_in_loop",
                "memory/nontemporal_stores",
            )
        ),
    ),
    Area(
        "compiler",
        2,
        ("cpp/metal/compiler/*.cpp",),
        (
            ir_tests("compiler"),
            cpp_tests("metal_tests", f"--gtest_filter=-{SLOW}"),
            python_tests("test_diagnosis.py", "test_metalc.py", "test_metal_kernel_errors.py"),
            python_tests("test_metal_kernel_diagnostics.py", "test_metal_kernel_faults.py"),
            python_tests("msl"),
            python_tests("test_ptx.py", "test_kernels_in_the_wild_language.py"),
            cpp_tests("metal_tests", f"--gtest_filter={SLOW}"),
            python_tests("test_metal_kernel_processes.py", "test_code_version.py"),
            RANDOM_PROGRAMS,
        ),
    ),
    Area(
        "arrays",
        4,
        ("cpp/mlx/*.cpp", "cpp/mlx/**/*.cpp"),
        (
            cpp_tests("mlx_tests"),
            python_tests("test_ops.py", "test_indexing.py", "test_array.py", "test_transforms.py"),
            python_tests("test_ops_reductions.py", "test_ops_shapes.py", "test_ops_products.py"),
            python_tests(
                "test_dtypes.py", "test_ops_dtypes.py", "test_random.py", "test_errors.py"
            ),
            python_tests("test_metal_kernel.py", "test_numpy_interop.py", "test_streams.py"),
            python_tests("test_random_views.py", "test_large_extents.py", "test_sharing.py"),
            python_tests("test_ops_accuracy.py", "test_utils.py", "test_registered_trees.py"),
            python_tests("test_linalg.py", "test_fft.py", "test_fast.py", "test_ops_float64.py"),
            python_tests(
                "test_io.py", "test_io_numpy.py", "test_io_safetensors.py", "test_io_gguf.py"
            ),
            python_tests("test_convolution_ops.py", "test_products_of_16_bits.py"),
            python_tests("test_lifetime.py", "test_metal_kernel_forms.py", "extensions"),
        ),
    ),
)
