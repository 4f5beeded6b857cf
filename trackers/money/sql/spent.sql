SELECT p.id,
       coalesce(sum(s.posts + s.posts_reserved) FILTER (WHERE s.day = given.day), 0)::bigint,
       coalesce(sum(s.posts + s.posts_reserved), 0)::bigint,
       coalesce(sum(s.money + s.reserved) FILTER (WHERE s.day = given.day), 0),
       coalesce(sum(s.money + s.reserved), 0),
       coalesce(sum(s.users + s.users_reserved) FILTER (WHERE s.day = given.day), 0)::bigint,
       coalesce(sum(s.users + s.users_reserved), 0)::bigint,
       coalesce(sum(s.owned_posts) FILTER (WHERE s.day = given.day), 0)::bigint,
       coalesce(sum(s.owned_posts), 0)::bigint,
       coalesce(sum(s.counts + s.counts_reserved) FILTER (WHERE s.day = given.day), 0)::bigint,
       coalesce(sum(s.counts + s.counts_reserved), 0)::bigint,
       coalesce(sum(s.archive_counts + s.archive_counts_reserved)
                FILTER (WHERE s.day = given.day), 0)::bigint,
       coalesce(sum(s.archive_counts + s.archive_counts_reserved), 0)::bigint
FROM unnest(%(projects)s::bigint[], %(days)s::date[]) AS given(project, day)
JOIN trackers_project p ON p.id = given.project
LEFT JOIN LATERAL (
    SELECT one.*, one.posts_reserved * p.price_of_a_post
                  + one.users_reserved * p.price_of_a_user
                  + one.counts_reserved * p.price_of_a_count
                  + one.archive_counts_reserved * p.price_of_an_archive_count AS reserved
    FROM trackers_spending one
    WHERE one.project_id = p.id
      AND one.day >= date_trunc('month', given.day)
      AND one.day < date_trunc('month', given.day) + interval '1 month'
) s ON true
GROUP BY p.id
