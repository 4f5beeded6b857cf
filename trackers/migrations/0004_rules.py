"""Rules that the product's statements share with its Python, as functions (beside it)."""

import re
from pathlib import Path

from django.db import migrations

RULES = Path(__file__).with_suffix(".sql").read_text()
NAMES = re.findall(r"CREATE FUNCTION (\w+)", RULES)


class Migration(migrations.Migration):
    dependencies = [("trackers", "0003_first_rows")]

    operations = [
        # The other way round: those that stand on others come after them.
        migrations.RunSQL(RULES, "".join(f"DROP FUNCTION {name};" for name in reversed(NAMES)))
    ]
