-- This replica goes. $1 replica_id
DELETE FROM replicas WHERE replica_id = $1
