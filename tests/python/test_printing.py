"""How arrays are printed, and the options."""

import mlx.core as mx
import pytest

X = [1.23456789, 100.5, 3.0]


def test_six_digits_by_default():
    assert mx.get_printoptions().precision == -1
    assert str(mx.array(X)) == "array([1.23457, 100.5, 3], dtype=float32)"
    assert str(mx.array([1e10, 1e-10, -0.0])) == "array([1e+10, 1e-10, -0], dtype=float32)"


@pytest.mark.parametrize(
    "precision, text",
    [
        (0, "[1, 100, 3]"),
        (1, "[1.2, 100.5, 3.0]"),
        (2, "[1.23, 100.50, 3.00]"),
        (8, "[1.23456788, 100.50000000, 3.00000000]"),
    ],
)
def test_decimal_places(precision, text):
    with mx.printoptions(precision=precision):
        assert str(mx.array(X)) == f"array({text}, dtype=float32)"
        assert f"{mx.array(X)}" == f"array({text}, dtype=float32)"
        assert repr(mx.array(X)) == f"array({text}, dtype=float32)"
    assert mx.get_printoptions().precision == -1


def test_places_of_all_types():
    nan = float("nan")
    with mx.printoptions(2):
        assert str(mx.array([1e10, nan, -float("inf")])) == (
            "array([10000000000.00, nan, -inf], dtype=float32)"
        )
        assert str(mx.array([1.5 - 2.25j, complex(nan, nan)])) == (
            "array([1.50-2.25j, nan+nanj], dtype=complex64)"
        )
        assert str(mx.array(1.23456, mx.float16)) == "array(1.23, dtype=float16)"
        assert str(mx.array([2 / 3], mx.float64)) == "array([0.67], dtype=float64)"
        assert str(mx.array([3, -4])) == "array([3, -4], dtype=int32)"
        assert str(mx.array([True])) == "array([True], dtype=bool)"
        assert str(mx.array([65], mx.int8)) == "array([65], dtype=int8)"


def test_options_stay_until_set_again():
    mx.set_printoptions(precision=3)
    try:
        assert mx.get_printoptions().precision == 3
        with mx.printoptions(1):
            with mx.printoptions():
                assert str(mx.array(0.25)) == "array(0.25, dtype=float32)"
            assert str(mx.array(0.25)) == "array(0.2, dtype=float32)"
        assert str(mx.array(0.25)) == "array(0.250, dtype=float32)"
    finally:
        mx.set_printoptions()
    assert mx.get_printoptions().precision == -1


def test_an_error_inside_ends_the_options():
    with pytest.raises(KeyError), mx.printoptions(precision=4):
        raise KeyError
    assert mx.get_printoptions().precision == -1


def test_options_object():
    assert mx.PrintOptions().precision == -1 and mx.PrintOptions(3).precision == 3
    options = mx.PrintOptions(precision=4)
    options.precision = 5
    assert options.precision == 5
    with pytest.raises(ValueError, match=r"\[set_printoptions\] precision must be at least 0"):
        mx.set_printoptions(precision=-2)
    with pytest.raises(ValueError, match=r"\[set_printoptions\]"), mx.printoptions(-7):
        pass
