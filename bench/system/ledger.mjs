import pg from 'pg';

/** Reads the ledger from beside the server: what counts is what is committed. */
export class Ledger {
  #client;

  constructor(url) {
    this.url = url;
  }

  async open() {
    this.#client = new pg.Client({ connectionString: this.url });
    this.#client.on('error', () => undefined);
    await this.#client.connect();
  }

  async close() {
    await this.#client.end();
  }

  /** Tasks of a capability by state. */
  async states(capability) {
    const { rows } = await this.#client.query(
      'SELECT state, count(*)::int AS tasks FROM tasks WHERE capability = $1 GROUP BY state',
      [capability],
    );
    return Object.fromEntries(rows.map(({ state, tasks }) => [state, tasks]));
  }

  /** Tasks of a capability that succeeded in [from, to). */
  async succeededBetween(capability, from, to) {
    const { rows } = await this.#client.query(
      `SELECT count(*)::int AS tasks FROM tasks
        WHERE capability = $1 AND state = 'succeeded' AND finished_at >= $2 AND finished_at < $3`,
      [capability, from, to],
    );
    return rows[0].tasks;
  }

  /** Deliveries per task: 1 unless work was handed out again. */
  async deliveries(capability) {
    const { rows } = await this.#client.query(
      'SELECT count(*)::int AS deliveries FROM deliveries d JOIN tasks t ON t.id = d.task_id WHERE t.capability = $1',
      [capability],
    );
    return rows[0].deliveries;
  }

  /** Writes out what earlier turns left dirty, so that each turn starts alike. */
  async checkpoint() {
    await this.#client.query('CHECKPOINT');
  }

  async resetStatements() {
    await this.#client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
    await this.#client.query('SELECT pg_stat_statements_reset()');
  }

  /** The statements that took most time since `resetStatements`. */
  async topStatements(limit) {
    const { rows } = await this.#client.query(
      `SELECT calls::int, rows::int, round(total_exec_time)::int AS total_ms,
              round(mean_exec_time::numeric, 3)::float AS mean_ms,
              round(wal_bytes / greatest(rows, 1))::int AS wal_bytes_per_row,
              left(regexp_replace(query, '\\s+', ' ', 'g'), 160) AS query
         FROM pg_stat_statements ORDER BY total_exec_time DESC LIMIT $1`,
      [limit],
    );
    return rows;
  }
}
