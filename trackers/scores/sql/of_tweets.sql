WITH asked AS MATERIALIZED (SELECT id FROM unnest(%(ids)s::bigint[]) AS asked(id)),
{scored}
SELECT id, own_kind, {columns} FROM scored
