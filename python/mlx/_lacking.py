"""Lists what MLX has and this package lacks, for error messages."""

# The names by module, in one text each. At present the modules listed here lack nothing.
_LACKING: dict[str, str] = {}


def names_lacking(module: str) -> list[str]:
    """The public names of a module of MLX that this package lacks, including submodules."""
    return _LACKING.get(module, "").split()


def attribute_error(module: str, name: str) -> str:
    """The error message for a missing ``name``."""
    if name in names_lacking(module):
        return f"{module}.{name} is part of MLX, but this package does not have it"
    return f"module '{module}' has no attribute '{name}'"
