-- scores.rule.expected_at: between two ages, on a straight line of logarithms; `to_age` is null after
-- the last age.
CREATE FUNCTION trackers_expected_v1(
    age float8, from_age float8, to_age float8, at_from float8, at_to float8
) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN to_age IS NULL OR age <= from_age THEN at_from
    ELSE exp(ln(at_from + 1) + (ln(at_to + 1) - ln(at_from + 1))
             * (ln(age) - ln(from_age)) / (ln(to_age) - ln(from_age))) - 1 END;

-- scores.rule.score.
CREATE FUNCTION trackers_score_v1(actual float8, expected float8, minimum float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN expected < minimum THEN actual / minimum
    WHEN actual >= expected THEN actual / expected
    WHEN actual > 0 THEN -expected / actual
    WHEN actual = 0 THEN -2 * expected END;

-- One row of 650 bytes an author, and one for each kind of which there are enough: in place.
ALTER TABLE trackers_benchmark ALTER COLUMN expected SET STORAGE MAIN,
    ALTER COLUMN posts SET STORAGE MAIN;
ALTER TABLE trackers_benchmark SET (fillfactor = 70);
ALTER TABLE trackers_benchmarkauthor SET (fillfactor = 70);
ALTER TABLE trackers_score SET (fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
