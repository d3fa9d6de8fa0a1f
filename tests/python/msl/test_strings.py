"""String literals: they are in the constant address space."""

import mlx.core as mx
import pytest
from kernel_runner import run_one

HEADER = """
    #define LABEL "label"
    struct Entry { constant char* name; int value; };
    constant char greeting[] = "hello";
    constant char* const names[] = {"x", "yes"};
    constant Entry entries[] = {{"ab" "cd", 3}, {LABEL, 4}};
    int length(const constant char* text) { int n = 0; while (text[n]) ++n; return n; }
    constant char* polarity(float a) { return a < 0 ? "negative" : "positive"; }
    struct Label { int letters; Label(constant char* s) : letters(length(s)) {} };
    template <typename T> struct Measure { int operator()() const { return length("template"); } };
"""


@pytest.mark.parametrize(
    "statements, expected",
    [
        ('constant char* s = "text"; out[0] = s[1];', ord("e")),
        ('const constant char* s("text"); out[0] = s[3];', ord("t")),
        ('constant char* s = "a"; s = "b"; out[0] = s[0];', ord("b")),
        ('constant char s[] = "abc"; static_assert(sizeof(s) == 4, "size"); out[0] = s[2];', 99),
        ('constant char* s[2] = {"p", "q"}; s[0] = "r"; out[0] = s[0][0];', ord("r")),
        ('out[0] = length("four") + length(LABEL) + length("a" "b");', 11),
        ("out[0] = greeting[4];", ord("o")),
        ("out[0] = names[1][2];", ord("s")),
        ("out[0] = entries[0].name[2] + entries[1].value;", ord("c") + 4),
        ("out[0] = polarity(-1.0f * (i + 1))[0];", ord("n")),
        ("out[0] = Measure<int>()();", 8),
        ('constant char* s = i ? "a" : "long"; out[0] = s[3];', ord("g")),
        ('out[0] = length(i ? "a" : "longer");', 6),
        ('constant char* s = (constant char*)"cast"; out[0] = s[1];', ord("a")),
        ('constant char* s = &"address"[3]; out[0] = *s;', ord("r")),
        # Where a declaration could begin, Clang parses the literal twice.
        ('Label l("abcd"); out[0] = (Label("abc").letters) + l.letters;', 7),
        ('if (Label("ab" "cd").letters > 3) out[0] = sizeof(Label("a"));', 4),
    ],
)
def test_literals(statements: str, expected: int):
    body = f"uint i = thread_position_in_grid.x; {statements}"
    got = run_one(body, {}, {"out": ((1,), mx.int32)}, 1, header=HEADER)
    assert got[0] == expected


@pytest.mark.parametrize(
    "statement",
    [
        'char* s = "text";',
        'device char* s = "text";',
        'float s = "text";',
        'out[0] = missing("a");',
    ],
)
def test_what_they_do_not_convert_to(statement: str):
    with pytest.raises(RuntimeError, match="kernel_under_test:1:.*error"):
        run_one(statement, {}, {"out": ((1,), mx.float32)}, 1)
