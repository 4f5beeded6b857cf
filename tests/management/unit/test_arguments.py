"""Arguments that a command cannot take are refused by name, before it begins."""

import pytest
from django.core.management import CommandError, call_command


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("deliver --slots 0", "--slots: 0 is not a whole number from 1 to 20,000"),
        ("bus --workers 0", "--workers: 0 is not a whole number from 1"),
        ("bus --threads -1", "--threads: -1 is not a whole number from 1"),
        ("bus --bind 127.0.0.1:99999", "--bind: 99999 is not a port"),
        ("bus --bind 127.0.0.1", "--bind: 127.0.0.1 is not HOST:PORT, such as"),
        (
            "source change 1 --priority urgent",
            "--priority: invalid choice: urgent (choose from low, normal, high)",
        ),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_range(words, why):
    with pytest.raises(CommandError) as refused:
        call_command(*words.split())

    # Newer Pythons quote no choices.
    assert f"argument {why}" in str(refused.value).replace("'", "")
