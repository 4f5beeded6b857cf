-- Each ends at the first row, or at the newest thousand tweets: the first figures of a tweet stay in
-- its row until they change. The tables of the last line are small.
SELECT EXISTS (SELECT FROM trackers_credential),
       EXISTS (SELECT FROM trackers_source),
       EXISTS (SELECT FROM trackers_tweet),
       EXISTS (SELECT FROM trackers_worker WHERE seen_at > %(silent_since)s),
       EXISTS (SELECT FROM trackers_sample) OR EXISTS (SELECT FROM trackers_packedsamples)
       OR EXISTS (SELECT FROM (
           SELECT measurements FROM trackers_tweet ORDER BY id DESC LIMIT 1000) AS newest
           WHERE measurements > 0),
       -- Since when there is this installation.
       (SELECT min(applied) FROM django_migrations) > %(new_since)s,
       EXISTS (SELECT FROM trackers_project WHERE coalesce(
           posts_a_day, posts_a_month, money_a_day, money_a_month) IS NOT NULL),
       EXISTS (SELECT FROM trackers_alertrule WHERE owner_id IS NULL),
       EXISTS (SELECT FROM auth_user OFFSET 1)
