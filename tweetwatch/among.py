"""The lookup `among`: as `in`, with all ids in one parameter.

`Tweet.objects.filter(id__among=ids)`. For `in` Django makes a parameter of each id, and psycopg and
the server read each by itself: with ten thousand that takes longer than to find the rows. Give it a
set where there may be many: Django looks at each element of a list or a tuple once more.
"""

from __future__ import annotations

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BigIntegerField, Lookup
from django.db.models.sql.compiler import SQLCompiler

from tweetwatch.database import array


@BigIntegerField.register_lookup
class Among(Lookup):
    lookup_name = "among"

    def get_prep_lookup(self) -> str:
        return array(self.rhs)

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        column, params = self.process_lhs(compiler, connection)
        return f"{column} = ANY(%s::bigint[])", (*params, self.rhs)
