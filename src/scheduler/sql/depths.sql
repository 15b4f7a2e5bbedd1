-- How many tasks wait in each lane, now or for their time.
SELECT lane, count(*)::int AS depth FROM tasks WHERE state IN ('queued', 'scheduled') GROUP BY lane
