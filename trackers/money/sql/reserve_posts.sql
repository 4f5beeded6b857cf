-- {posts_left}, {spent}: what the project still has, of what it spent (`s`).
WITH room AS (
    SELECT {posts_left} AS posts
    FROM trackers_project p CROSS JOIN LATERAL ({spent}) s
    WHERE p.id = %(project)s
),
-- Groups of `counts` tweets, youngest first; each leaves as much as is `reserved` to younger ones.
granted AS (
    SELECT sum(greatest(0, least(asked.count, room.posts - asked.reserved - asked.before)))
               ::int AS posts
    FROM room, (
        SELECT count, reserved, sum(count) OVER (ORDER BY place) - count AS before
        FROM unnest(%(counts)s::int[], %(reserved)s::int[])
            WITH ORDINALITY AS a(count, reserved, place)
    ) asked
),
written AS (
    INSERT INTO trackers_spending (project_id, day, posts, users, posts_reserved,
                                   users_reserved, money)
    SELECT %(project)s, %(day)s, 0, 0, posts, 0, 0 FROM granted WHERE posts > 0
    ON CONFLICT (project_id, day) DO UPDATE
    SET posts_reserved = trackers_spending.posts_reserved + excluded.posts_reserved
)
-- With a budget the reservation is flushed before the request is sent: if a crash of the database
-- lost it, it would be spent a second time. Without a budget there is no limit to keep.
SELECT granted.posts,
       set_config('synchronous_commit',
                  CASE WHEN granted.posts > 0 AND room.posts IS NOT NULL
                       THEN 'on' ELSE 'off' END, true)
FROM granted, room
