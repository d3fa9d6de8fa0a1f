# Everything from a bare Debian 12: `make demo`, `make test`. A second run builds nothing.
PYTHON ?= python3
JOBS ?= $(shell nproc)
VENV := $(CURDIR)/.venv
PY := $(VENV)/bin/python
BUILD := $(CURDIR)/build/release
BENCHMARKS := ops core checks sparse points kernels launch phrasings llm seeds quantized
export PATH := $(VENV)/bin:$(PATH)
# Builds in other folders of this tree, such as pip's, find what this one compiled.
export CCACHE_BASEDIR := $(CURDIR)
unexport PYTHONPATH

.PHONY: all build package tools packages wheels demo test test-cpp test-python test-gpu test-aarch64 test-package fuzz bench bench-small $(BENCHMARKS:%=bench-small-%) bench-peers lint tidy mutate format docs asan asan-kernels tsan coverage clean
all: build

tools: $(VENV)/.test

packages:
	@tools/install_packages.sh

$(VENV)/.tools: pyproject.toml | packages
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade "pip>=25.1"
	$(PY) -m pip install --quiet --no-compile --group build --group demo
	@touch $@

# The demo does not wait for these.
$(VENV)/.test: pyproject.toml $(VENV)/.tools
	$(PY) -m pip install --quiet --no-compile --group examples --group test
	@touch $@

$(BUILD)/.configured: CMakePresets.json $(VENV)/.tools
	cmake --preset release -DPython_EXECUTABLE=$(PY)
	@touch $@

# The package alone is half of what is to compile. The editable install runs setup.py in the same build folder, after
# everything is built there.
build: $(VENV)/.test
package build: packages $(BUILD)/.configured
	@cmake --build --preset release --parallel $(JOBS) --target $(if $(filter package,$@),package_files,all)
	@cmake --install $(BUILD) --prefix python/mlx > $(BUILD)/install.log
	@test $(VENV)/.package -nt setup.py -a $(VENV)/.package -nt pyproject.toml || \
	  { $(PY) -m pip install --quiet --no-build-isolation --no-deps --editable . && touch $(VENV)/.package; }

# Packages made for MLX, for tests and benchmarks.
$(VENV)/.packages: pyproject.toml $(VENV)/.test
	$(PY) -m pip install --quiet --group packages
	@touch $@

$(VENV)/.wheels: pyproject.toml $(VENV)/.tools
	$(PY) -m pip install --quiet --group wheels
	@touch $@

# Into dist/: a wheel that needs no library of the system but those of C and C++, and the one that stands for `mlx`.
wheels: packages $(VENV)/.wheels
	rm -rf build/wheels build/lib.* dist/mlx*.whl && mkdir -p dist
	CMAKE_ARGS="-DMLX_STATIC_LIBRARIES=ON" $(PY) -m pip wheel --no-build-isolation --no-deps --wheel-dir build/wheels .
	$(PY) tools/repair_wheel.py build/wheels/mlx_anywhere-*.whl dist
	$(PY) -m pip wheel --no-build-isolation --no-deps --wheel-dir dist packaging/mlx

demo: package
	$(PY) examples/demo.py

test: test-cpp test-python

test-cpp: build
	ctest --preset release --parallel $(JOBS)

test-python: build $(VENV)/.packages
	$(PY) -m pytest --numprocesses $(JOBS)

# Random programs in all forms of code: see tests/fuzz/programs/README.md.
PROGRAMS ?= 1000
SEED ?= 0
FUZZ := cd tests/fuzz && MLX_VERIFY_IR=1 $(PY) -m programs --jobs $(JOBS) --out $(CURDIR)/build/fuzz --seed $(SEED)
fuzz: build
	$(FUZZ) $(if $(MINUTES),--minutes $(MINUTES),--programs $(PROGRAMS))

# llama.cpp, compiled for this processor; it has an environment of its own. Stores are not eliminated, since GCC 12 believes
# that its intrinsic for the configuration of AMX's tiles reads only the first 8 of the 64 bytes.
LLAMA := $(CURDIR)/build/benchmarks/llama
LLAMA_OPTIONS := -DGGML_NATIVE=ON -DLLAVA_BUILD=OFF '-DCMAKE_CXX_FLAGS=-fno-tree-dse -fno-dse'
$(LLAMA)/.llama: pyproject.toml $(VENV)/.tools
	test -x $(LLAMA)/bin/python || $(PYTHON) -m venv $(LLAMA)
	$(LLAMA)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	CMAKE_ARGS="$(LLAMA_OPTIONS)" CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) \
	  $(LLAMA)/bin/python -m pip install --quiet --no-cache-dir --no-binary llama-cpp-python --group llama
	@touch $@

# The runtimes that the benchmarks compare with.
bench-peers: $(VENV)/.test $(LLAMA)/.llama
	$(PY) -m pip install --quiet --group bench
	@tools/install_packages.sh pocl-opencl-icd

bench: build bench-peers
	$(PY) benchmarks/kernels.py
	$(PY) benchmarks/phrasings.py
	$(PY) benchmarks/core.py
	$(PY) benchmarks/ops.py
	$(PY) benchmarks/sparse.py
	$(PY) benchmarks/points.py
	$(PY) benchmarks/quantized.py
	$(PY) benchmarks/llm.py --llama $(LLAMA)/bin/python

# Each program once, for whether it works; peers that are not installed are left out.
bench-small: $(BENCHMARKS:%=bench-small-%)
$(BENCHMARKS:%=bench-small-%): bench-small-%: build
	$(PY) benchmarks/$*.py --size small

# On a machine with an NVIDIA GPU.
test-gpu: build
	MLX_METAL_DEVICE=cuda $(PY) -m pytest --numprocesses $(JOBS)

# The C++ tests and random programs for AArch64, in an emulator: with all features of such processors, then with those of
# a Cortex-A72, which has neither arithmetic with 16-bit floats nor SVE.
AARCH64 := $(CURDIR)/build/aarch64
AARCH64_RUNNER = prlimit --as=137438953472 qemu-aarch64 -L $(AARCH64)/sysroot $(AARCH64)/bin/program_runner
AARCH64_PROGRAMS ?= 2000
test-aarch64: build
	tools/install_aarch64.sh $(AARCH64)
	cmake --preset aarch64
	cmake --build --preset aarch64 --parallel $(JOBS)
	ctest --preset aarch64 --parallel $(JOBS)
	QEMU_CPU=cortex-a72 ctest --preset aarch64 --parallel $(JOBS) -R metal_tests
	$(FUZZ) --programs $(AARCH64_PROGRAMS) --batch 250 --no-shrinking --runner "$(AARCH64_RUNNER)" \
	  --base $(BUILD)/bin/program_runner --forms cortex-a72 native

test-package: build
	$(PY) -m pytest -m package

# With asan, the compiler also runs on random programs: their control flow is wilder than that of the tests.
asan tsan: packages $(VENV)/.tools
	cmake --preset $@
	cmake --build --preset $@ --parallel $(JOBS)
	ctest --preset $@ --parallel $(JOBS)
	$(if $(filter asan,$@),ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 $(SHELL) -c \
	  '$(FUZZ) --programs 200 --no-shrinking --runner $(CURDIR)/build/asan/bin/program_runner')

# The Python tests of kernels, in a copy of the package that has the compiler of the asan build. A program that is not
# built with ASan needs its library first, then the one whose functions it intercepts. With another processor than this
# one, the tests take a third of their tables.
ASAN := $(CURDIR)/build/asan
OTHER_TARGET := $(if $(filter x86_64,$(shell uname -m)),MLX_CPU_TARGET=x86-64-v3)
asan-kernels: build
	cmake --preset asan
	cmake --build --preset asan --parallel $(JOBS) --target libmlx_metal_compiler.so
	rm -rf $(ASAN)/python && mkdir -p $(ASAN)/python && cp -r python/mlx $(ASAN)/python
	cp $(ASAN)/lib/libmlx_metal_compiler.so $(ASAN)/python/mlx/lib
	ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:detect_stack_use_after_return=0 \
	  UBSAN_OPTIONS=halt_on_error=1 MLX_CACHE_DIR= $(OTHER_TARGET) PYTHONPATH=$(ASAN)/python \
	  LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so)" \
	  $(PY) -m pytest --numprocesses $(JOBS) tests/python/kernels

coverage: packages $(VENV)/.tools
	$(PY) -m pip install --quiet gcovr
	cmake --preset coverage -DPython_EXECUTABLE=$(PY)
	cmake --build --preset coverage --parallel $(JOBS)
	ctest --preset coverage
	gcovr --root cpp --object-directory build/coverage --print-summary

$(VENV)/.lint: pyproject.toml $(VENV)/.tools
	$(PY) -m pip install --quiet --group lint
	@touch $@

# Undefined, not errors, in release builds.
UNCHECKED := llvm::cast<|llvm_unreachable|cantFail
CPP_FILES := git ls-files '*.cpp' '*.h' '*.hpp'
lint: $(VENV)/.lint
	ruff check .
	ruff format --check .
	$(CPP_FILES) | xargs clang-format --dry-run --Werror
	@! git grep -nE '$(UNCHECKED)' -- cpp/metal ':!*/checked_cast.h' || { echo "use checked_cast or internal_error"; false; }

format: $(VENV)/.lint
	ruff check --fix .
	ruff format .
	$(CPP_FILES) | xargs clang-format -i

# SECONDS bounds it: the next run goes on with what is left.
SECONDS ?= inf
tidy: build
	@tools/install_packages.sh clang-tidy-19
	$(PY) tools/tidy.py --seconds $(SECONDS) --jobs $(JOBS)

$(VENV)/.mutate: pyproject.toml $(VENV)/.test
	$(PY) -m pip install --quiet --group mutate
	@touch $@

# Small faults in the sources, one at a time: which test notices each. Takes an hour.
COUNT ?= 60
SEED ?= 1
mutate: packages $(VENV)/.mutate
	$(PY) tools/mutate.py --count $(COUNT) --seed $(SEED) --jobs $(JOBS)

$(VENV)/.docs: pyproject.toml $(VENV)/.tools
	$(PY) -m pip install --quiet --group docs
	@touch $@

docs: build $(VENV)/.docs
	$(PY) -m sphinx -W --keep-going -b html docs docs/_build/html

clean:
	rm -rf build dist demo_output docs/_build
