import { type Pool, type PoolClient, type QueryResult, type QueryResultRow } from 'pg';
import { isStalePreparedStatement, isStaleRoute, spoilsConnection } from './sql-errors.js';

/** The pool of node-postgres under the data source. */
export type PgPool = Pool;

/** Runs statements: on any connection of the pool ({@link Sql}), or on the one of a transaction. */
export interface SqlRunner {
  /**
   * Runs `text` as a prepared statement called `name`; a name belongs to one text for ever. Parameters are
   * bound, never spliced in.
   */
  run<R extends QueryResultRow = QueryResultRow>(
    name: string,
    text: string,
    params?: readonly unknown[],
  ): Promise<QueryResult<R>>;
}

/** The statements of one transaction. */
export interface SqlTransaction extends SqlRunner {
  /** Runs a statement that is not worth preparing, or cannot be: DDL, SET. */
  exec<R extends QueryResultRow = QueryResultRow>(text: string): Promise<QueryResult<R>>;
}

/**
 * The hot path to Postgres. `pool.query` is not used: it throws the connection away after any error, a
 * unique violation included, and a new one costs a process on the server and 5 ms of key derivation here.
 */
export class Sql implements SqlRunner {
  constructor(readonly pool: PgPool) {}

  /**
   * Runs one statement on a connection of the pool.
   * @throws the server's error, or the driver's when the pool or the server does not answer in time
   */
  async run<R extends QueryResultRow = QueryResultRow>(
    name: string,
    text: string,
    params: readonly unknown[] = [],
  ): Promise<QueryResult<R>> {
    // Every connection may hold a stale statement; each failed try removes one of them.
    for (let triesLeft = this.pool.totalCount + 1; ; triesLeft--) {
      const client = await this.pool.connect();
      try {
        const result = await runOn<R>(client, name, text, params);
        client.release();
        return result;
      } catch (error) {
        client.release(spoilsConnection(error));
        if (!(isStalePreparedStatement(error) || isStaleRoute(error)) || triesLeft <= 0) throw error;
      }
    }
  }

  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it throws.
   * @param opening statements without parameters that go with BEGIN, in the same round trip
   * @throws what `opening` or `work` threw, or the error of COMMIT; after a connection error during COMMIT
   *   (`isConnectionError`) the outcome is unknown
   */
  async transaction<T>(work: (tx: SqlTransaction) => Promise<T>, opening = ''): Promise<T> {
    const client = await this.pool.connect();
    let spoilt = false;
    try {
      await client.query(`BEGIN;${opening}`);
      const result = await work({
        run: (name, text, params = []) => runOn(client, name, text, params),
        exec: (text) => client.query(text),
      });
      const { command } = await client.query('COMMIT');
      // A caller that swallowed an error of one of its statements has nothing committed.
      if (command === 'ROLLBACK')
        throw new Error('The transaction was rolled back: a statement in it failed');
      return result;
    } catch (error) {
      spoilt = spoilsConnection(error);
      await client.query('ROLLBACK').catch(() => {
        spoilt = true;
      });
      throw error;
    } finally {
      client.release(spoilt);
    }
  }

  /** Runs `work` on one state of the database: what its reads find belongs together, whatever is committed meanwhile. */
  snapshot<T>(work: (tx: SqlRunner) => Promise<T>): Promise<T> {
    return this.transaction(work, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
  }
}

function runOn<R extends QueryResultRow>(
  client: PoolClient,
  name: string,
  text: string,
  values: readonly unknown[],
): Promise<QueryResult<R>> {
  return client.query<R>({ name, text, values: values as unknown[] });
}
