from mlx import extension
from setuptools import setup

if __name__ == "__main__":
    setup(
        name="mlx_softcap",
        version="0.0.1",
        description="An extension in the present style.",
        ext_modules=[extension.CMakeExtension("mlx_softcap._ext")],
        cmdclass={"build_ext": extension.CMakeBuild},
        packages=["mlx_softcap"],
        package_data={"mlx_softcap": ["*.so", "*.dylib", "*.metallib"]},
        zip_safe=False,
        python_requires=">=3.8",
    )
