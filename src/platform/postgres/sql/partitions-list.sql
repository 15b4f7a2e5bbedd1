-- The partitions of the tables $1, with the column each table is partitioned by, and the database's clock.
SELECT parent.relname                                   AS parent,
       key.attname                                      AS key_column,
       child.relname                                    AS partition,
       child.oid = part.partdefid                       AS is_default,
       child.reloptions                                 AS storage,
       floor(extract(epoch FROM now()) * 1000)::bigint  AS now_ms
  FROM unnest($1::text[]) AS wanted(name)
  JOIN pg_class parent             ON parent.oid = to_regclass(wanted.name)
  JOIN pg_partitioned_table part   ON part.partrelid = parent.oid
  JOIN pg_attribute key            ON key.attrelid = parent.oid AND key.attnum = part.partattrs[0]
  LEFT JOIN pg_inherits link       ON link.inhparent = parent.oid
  LEFT JOIN pg_class child         ON child.oid = link.inhrelid
 ORDER BY parent.relname, child.relname
