-- A row per process, so that no two ever wait for each other. Not flushed: a crash of the database
-- may lose the last counts, and nothing depends on them.
INSERT INTO trackers_queuecounters AS counters (queue, minute, host, pid, batches, asked, measured,
                                     changed, missing, failed, late)
SELECT %(queue)s, date_trunc('minute', now()), %(host)s, %(pid)s, %(requests)s, %(asked)s,
       %(measured)s, %(changed)s, %(missing)s, %(failed)s, to_jsonb(%(late)s::int[])
FROM (SELECT set_config('synchronous_commit', 'off', true)) AS unflushed
ON CONFLICT (minute, queue, host, pid) DO UPDATE SET
    batches = counters.batches + excluded.batches, asked = counters.asked + excluded.asked,
    measured = counters.measured + excluded.measured, changed = counters.changed + excluded.changed,
    missing = counters.missing + excluded.missing, failed = counters.failed + excluded.failed,
    late = (SELECT coalesce(jsonb_agg(coalesce(mine::int, 0) + coalesce(new::int, 0)
                                      ORDER BY place), '[]')
            FROM ROWS FROM (jsonb_array_elements_text(counters.late),
                            jsonb_array_elements_text(excluded.late))
                 WITH ORDINALITY AS counts(mine, new, place))
