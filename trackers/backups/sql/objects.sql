-- What people and programs made in this database: the program's own, and all else. Members of
-- extensions are left to these, and the contents of other schemas are only named by their schema.
-- The program's tables are those of Django's models and whatever is named trackers_…, with their
-- partitions and the sequences of their columns.
WITH own_tables AS (
    SELECT c.oid
    FROM pg_class c LEFT JOIN pg_class root ON root.oid = pg_partition_root(c.oid)
    WHERE c.relnamespace = to_regnamespace(quote_ident(%(schema)s)) AND c.relkind IN ('r', 'p')
        AND (coalesce(root.relname, c.relname) = ANY (%(tables)s)
            OR starts_with(coalesce(root.relname, c.relname), 'trackers_'))
), found AS (
    SELECT c.tableoid AS catalog, c.oid, c.relkind::text AS kind, c.relname::text AS name,
        format('%%I.%%I', %(schema)s::text, c.relname) AS identity,
        -- A standby has no rows of unlogged tables, which only hold what may be lost.
        c.relkind = 'r' AND (c.relpersistence <> 'u' OR NOT pg_is_in_recovery()) AS has_rows,
        c.oid IN (TABLE own_tables) OR c.relkind = 'S' AND (
            starts_with(c.relname, 'trackers_') OR EXISTS (
                SELECT FROM pg_depend
                WHERE classid = 'pg_class'::regclass AND objid = c.oid
                    AND refobjid IN (TABLE own_tables) AND deptype IN ('a', 'i'))) AS is_own
    FROM pg_class c
    WHERE c.relnamespace = to_regnamespace(quote_ident(%(schema)s))
        AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
    UNION ALL
    SELECT tableoid, oid, 'function', proname,
        format('%%I.%%I(%%s)', %(schema)s::text, proname, pg_get_function_identity_arguments(oid)),
        false, starts_with(proname, 'trackers_')
    FROM pg_proc WHERE pronamespace = to_regnamespace(quote_ident(%(schema)s))
    UNION ALL
    -- What others added to the program's tables and needs something of theirs, such as an
    -- extension's operators.
    SELECT i.tableoid, i.oid, 'i', i.relname, '', false, false
    FROM pg_index JOIN pg_class i ON i.oid = indexrelid
    WHERE indrelid IN (TABLE own_tables) AND EXISTS (
        SELECT FROM pg_depend
        WHERE classid = 'pg_class'::regclass AND objid = i.oid AND refobjid >= 16384
            AND refclassid NOT IN ('pg_class'::regclass, 'pg_constraint'::regclass)
            AND refobjid NOT IN (SELECT oid FROM pg_proc WHERE starts_with(proname, 'trackers_')))
    UNION ALL
    SELECT tableoid, oid, 'other', '', '', false, false
    FROM pg_trigger WHERE tgrelid IN (TABLE own_tables) AND NOT tgisinternal
    UNION ALL
    SELECT tableoid, oid, 'other', '', '', false, false
    FROM pg_policy WHERE polrelid IN (TABLE own_tables)
    UNION ALL
    -- Each table has a composite type too, which goes with it.
    SELECT t.tableoid, t.oid, 'type', typname, format('%%I.%%I', %(schema)s::text, typname), false,
        starts_with(typname, 'trackers_')
    FROM pg_type t LEFT JOIN pg_class c ON c.oid = typrelid
    WHERE typnamespace = to_regnamespace(quote_ident(%(schema)s))
        AND (typtype IN ('d', 'e', 'r') OR c.relkind = 'c')
    UNION ALL
    SELECT tableoid, oid, 'other', '', '', false, false
    FROM pg_namespace WHERE nspname <> %(schema)s AND nspname !~ '^pg_'
        AND nspname NOT IN ('information_schema', 'public')
    UNION ALL
    SELECT tableoid, oid, 'other', '', '', false, false
    FROM pg_extension WHERE extname <> 'plpgsql'
    UNION ALL
    SELECT tableoid, oid, 'other', '', '', false, false FROM pg_publication
    UNION ALL
    SELECT tableoid, oid, 'other', '', '', false, false FROM pg_event_trigger
    UNION ALL
    SELECT tableoid, oid, 'other', '', '', false, false FROM pg_foreign_server
    UNION ALL
    SELECT 'pg_subscription'::regclass, oid, 'other', '', '', false, false FROM pg_subscription
    WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())
)
SELECT catalog::int8, oid::int8, kind, name, identity, has_rows, is_own,
    CASE WHEN has_rows THEN pg_table_size(oid) ELSE 0 END,
    pg_describe_object(catalog, oid, 0)
FROM found
WHERE NOT EXISTS (
    SELECT FROM pg_depend
    WHERE classid = catalog AND objid = found.oid AND deptype = 'e')
ORDER BY kind, name, oid
