"""Builds the package mlx_swiglu."""

from mlx import extension
from setuptools import setup

if __name__ == "__main__":
    setup(
        name="mlx_swiglu",
        version="0.1.0",
        description="SwiGLU as one operation",
        ext_modules=[extension.CMakeExtension("mlx_swiglu._ext")],
        cmdclass={"build_ext": extension.CMakeBuild},
        packages=["mlx_swiglu"],
        package_data={"mlx_swiglu": ["*.so", "*.metallib"]},
        zip_safe=False,
        python_requires=">=3.10",
    )
