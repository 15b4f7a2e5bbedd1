-- Every lane with queued tasks: a walk over the lane index, one step a lane however long the lanes are.
WITH RECURSIVE lanes AS (
  (SELECT lane FROM tasks WHERE state = 'queued' ORDER BY lane LIMIT 1)
  UNION ALL
  SELECT (SELECT t.lane FROM tasks t WHERE t.state = 'queued' AND t.lane > l.lane ORDER BY t.lane LIMIT 1)
  FROM lanes l WHERE l.lane IS NOT NULL
)
SELECT lane FROM lanes WHERE lane IS NOT NULL
