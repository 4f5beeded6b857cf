-- Rules that Python has too: each beside its twin's name, and tests keep the two equal.
-- A function is never changed: its successor has the next number, and comes in the release before
-- the one that drops it, since workers of the version before run beside `migrate`.
-- None is STRICT, and none is given a volatile or costly value that it uses twice: so the planner
-- puts each into the statement as if it were written there, and a call costs nothing.

-- tweetwatch.schema.PROGRAM of the oldest program that can work with these tables. The only one that
-- later migrations redefine.
CREATE FUNCTION trackers_oldest_program() RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 1;

-- tweets.snowflake.born_at: when the tweet of this id was posted.
CREATE FUNCTION trackers_born_at_v1(id bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN to_timestamp(((id >> 22) + 1288834974657) / 1000.0);

-- schedule.intervals.Plan.tier: 1 is the youngest; one more than the number of tiers means too old;
-- null: posted in the future, or at an unknown time. `age` and the tiers' `bounds` in seconds.
CREATE FUNCTION trackers_tier_v1(age float8, bounds float8[]) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN age >= -300 THEN 1 + width_bucket(age, bounds) END;

-- tweets.pace.strangers_pace: of a tweet never measured, `age` in seconds.
CREATE FUNCTION trackers_strangers_pace_v1(age float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 1 / (1 + greatest(age, 1) / 3600) / greatest(age, 1);

-- A pace that is negative, or not finite, is unknown. NaN and infinity are greater than all numbers.
CREATE FUNCTION trackers_known_pace_v1(pace float8, age float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN pace >= 0 AND pace < 'infinity'::float8 THEN pace
    ELSE trackers_strangers_pace_v1(age) END;

-- tweets.pace.growth: null where no metric is known twice. Floats: adding ten to the largest counts
-- would overflow.
CREATE FUNCTION trackers_growth_v1(
    views float8, likes float8, retweets float8,
    old_views float8, old_likes float8, old_retweets float8
) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    coalesce(abs(ln((views + 10) / (old_views + 10))), 0)
    + coalesce(abs(ln((likes + 10) / (old_likes + 10))), 0)
    + coalesce(abs(ln((retweets + 10) / (old_retweets + 10))), 0)
) / nullif(num_nonnulls(views + old_views, likes + old_likes, retweets + old_retweets), 0);

-- The earlier pace at the present age; null if it is unknown.
CREATE FUNCTION trackers_carried_pace_v1(last float8, age float8, last_age float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN last >= 0 AND last < 'infinity'::float8
    THEN last * (greatest(last_age, 1) / greatest(age, last_age, 1)) END;

-- The newest measurement's alone, at the present age, from the growth since the one before.
CREATE FUNCTION trackers_newest_pace_v1(growth float8, age float8, last_age float8) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN growth / (age - last_age) * sqrt(greatest(last_age, 0.3 * age, 1) / greatest(age, 1));

-- tweets.pace.pace: ages in seconds, `last_age` null without an earlier measurement; the counts
-- after and before; `last` is the earlier pace.
CREATE FUNCTION trackers_pace_v1(
    age float8, last_age float8, last float8,
    views float8, likes float8, retweets float8,
    old_views float8, old_likes float8, old_retweets float8
) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN greatest(1e-15, CASE
    WHEN last_age IS NULL THEN CASE
        WHEN age > 300 THEN trackers_strangers_pace_v1(age)
        ELSE coalesce(
            trackers_growth_v1(views, likes, retweets, 0, 0, 0) * sqrt(0.3) / greatest(age, 1),
            trackers_strangers_pace_v1(age)) END
    WHEN age - last_age < 5
        OR num_nonnulls(views + old_views, likes + old_likes, retweets + old_retweets) = 0
    THEN coalesce(
        trackers_carried_pace_v1(last, age, last_age), trackers_strangers_pace_v1(age))
    ELSE coalesce(
        0.4 * trackers_newest_pace_v1(
            trackers_growth_v1(views, likes, retweets, old_views, old_likes, old_retweets),
            age, last_age)
        + 0.6 * trackers_carried_pace_v1(last, age, last_age),
        trackers_newest_pace_v1(
            trackers_growth_v1(views, likes, retweets, old_views, old_likes, old_retweets),
            age, last_age))
END);

-- schedule.adapt.adapted_wait, in seconds.
CREATE FUNCTION trackers_adapted_wait_v1(
    age float8, pace float8, accuracy float8, at_most float8, at_least float8, stretch float8
) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN least(
    greatest(accuracy * stretch / (pace + 0.2 / greatest(age, 1)), at_most),
    at_least * least(stretch, 3));

-- What is left of the UTC day at an instant, in seconds.
CREATE FUNCTION trackers_left_of_day_v1(at timestamptz) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN 86400 - date_part('epoch', (at AT TIME ZONE 'UTC')::time);

-- schedule.paid_days.across_days: `rest` is what is left of the day; all in seconds.
CREATE FUNCTION trackers_across_days_v1(
    wait float8, rest float8, day_stretch float8, longest float8, chance float8
) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN wait + least(300, wait / 2) < rest THEN wait
    WHEN rest - 300 - 1800 * (1 - chance) >= 0.2 * wait
    THEN rest - 300 - 1800 * (1 - chance)
    ELSE greatest(wait, least(wait * day_stretch, longest), rest + least(1800, wait / 2) * chance)
END;
