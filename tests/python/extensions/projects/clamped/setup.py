from mlx import extension
from setuptools import setup

if __name__ == "__main__":
    setup(
        name="mlx_clamped",
        version="0.0.0",
        description="An extension in the style of the older guide.",
        ext_modules=[extension.CMakeExtension("mlx_clamped.mlx_clamped")],
        cmdclass={"build_ext": extension.CMakeBuild},
        packages=["mlx_clamped"],
        package_dir={"": "."},
        package_data={"mlx_clamped": ["*.so", "*.dylib", "*.metallib"]},
        zip_safe=False,
        python_requires=">=3.7",
    )
