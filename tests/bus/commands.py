"""Commands as a person or a script gives them."""

import io
import json

from django.core.management import call_command


def manage(command, *given):
    out, err = io.StringIO(), io.StringIO()
    call_command(command, *map(str, given), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def printed_rows(command, *given):
    return [json.loads(line) for line in manage(command, *given, "--json")[0].splitlines()]
