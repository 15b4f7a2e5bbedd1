-- With the policy by which the agent of its last delivery was chosen. $1 id
SELECT t.*, p.policy FROM tasks t LEFT JOIN followed_policies p ON p.digest = t.decision ->> 1 WHERE t.id = $1
