"""What MLX has and this package lacks, so that a program that asks for it is told so."""

# By module, the names in one text. At present nothing is lacking in those that are here.
_LACKING: dict[str, str] = {}


def names_lacking(module: str) -> list[str]:
    """The public names of a module of MLX that this package lacks, submodules among them."""
    return _LACKING.get(module, "").split()


def attribute_error(module: str, name: str) -> str:
    """What the error says where ``name`` is asked for and not found."""
    if name in names_lacking(module):
        return f"{module}.{name} is part of MLX, but this package does not have it"
    return f"module '{module}' has no attribute '{name}'"
