-- What a project `p` spent on {day} and in its month, reservations included.
SELECT coalesce(sum(one.posts) FILTER (WHERE one.day = {day}), 0) AS day_posts,
       coalesce(sum(one.posts), 0) AS month_posts,
       coalesce(sum(one.money) FILTER (WHERE one.day = {day}), 0) AS day_money,
       coalesce(sum(one.money), 0) AS month_money,
       extract(day FROM date_trunc('month', {day}) + interval '1 month' - {day}) AS days_left
FROM (
    SELECT day, posts + posts_reserved AS posts,
           money + posts_reserved * p.price_of_a_post
                 + users_reserved * p.price_of_a_user
                 + counts_reserved * p.price_of_a_count
                 + archive_counts_reserved * p.price_of_an_archive_count AS money
    FROM trackers_spending
    WHERE project_id = p.id AND day >= date_trunc('month', {day})::date
      AND day < (date_trunc('month', {day}) + interval '1 month')::date
) one
