import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandFailed } from '../usage-error.js';
import { Child } from './child.js';

const CLI = fileURLToPath(new URL('../main.js', import.meta.url));
const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));
const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
/** The project's own texts that are part of the demo's documents, where the package has them. */
const OWN_DOCUMENTS = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs'];
const START_TIMEOUT_MS = 90_000;
/** Idle agents end at once; what one still works on at the end of the demo is of no use. */
const AGENT_GRACE_MS = 1500;
const CENTRE_GRACE_MS = 20_000;

export const AGENTS = ['fetcher', 'summarizer', 'summarizer', 'keywords', 'translator', 'reporter'] as const;

/** The processes of the demo and the directory they live in. */
export class Stage {
  readonly dataDir: string;
  centreUrl = '';
  private serviceUrl = '';
  private centre: Child | undefined;
  private service: Child | undefined;
  private readonly agents = new Map<string, Child>();
  private readonly ownsDataDir: boolean;
  private closing: Promise<void> | undefined;

  constructor(dataDir: string | undefined) {
    this.ownsDataDir = dataDir === undefined;
    this.dataDir = dataDir === undefined ? mkdtempSync(join(tmpdir(), 'reach-demo-')) : resolve(dataDir);
    mkdirSync(this.logDir, { recursive: true });
    // The last resort, when this process ends without having closed.
    process.once('exit', () => this.children().forEach((child) => child.kill('SIGTERM')));
  }

  get logDir(): string {
    return join(this.dataDir, 'logs');
  }

  /** Starts the centre on the embedded database and a free port. */
  async startCentre(): Promise<void> {
    if (!existsSync(EXAMPLES))
      throw new CommandFailed(`the demo needs the built examples in ${EXAMPLES}; run: npm run build`);
    this.centre = this.child('centre', CLI, ['serve'], {
      REACH_HTTP_PORT: '0',
      REACH_DATA_DIR: join(this.dataDir, 'centre'),
      REACH_LOG_FORMAT: 'json',
      // Nobody waits half a minute to see that a service is back.
      REACH_DEPENDENCY_INTERVAL_MS: '2000',
    });
    this.centreUrl = await this.centre.firstLine(listeningUrl, START_TIMEOUT_MS);
  }

  /** Starts the service that has the documents; later again on the same port. */
  async startService(): Promise<void> {
    const port = this.serviceUrl === '' ? '0' : new URL(this.serviceUrl).port;
    const places = [join(EXAMPLES, 'documents'), ...OWN_DOCUMENTS.map((name) => join(PROJECT, name))];
    this.service = this.child(
      'document-service',
      join(EXAMPLES, 'document-service.js'),
      [port, ...places],
      {},
    );
    this.serviceUrl = await this.service.firstLine((line) => /^http:\S+$/.exec(line)?.[0], START_TIMEOUT_MS);
  }

  async stopService(): Promise<void> {
    await this.service?.stop(AGENT_GRACE_MS);
  }

  /** The names of all documents. */
  async documents(): Promise<string[]> {
    const response = await fetch(`${this.serviceUrl}/documents`);
    return (await response.json()) as string[];
  }

  /** Starts the agents, each in a process of its own. @returns their ids */
  startAgents(): string[] {
    const counts = new Map<string, number>();
    for (const kind of AGENTS) {
      const number = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, number);
      const id = `${kind}-${number}`;
      this.agents.set(
        id,
        this.child(id, join(EXAMPLES, 'agents', `${kind}.js`), [], {
          REACH_URL: this.centreUrl,
          REACH_AGENT_ID: id,
          DOCUMENT_SERVICE_URL: this.serviceUrl,
        }),
      );
    }
    return [...this.agents.keys()];
  }

  /** Stops an agent's process where it is, or lets it go on. Windows cannot: there it goes on. */
  freezeAgent(id: string, frozen: boolean): void {
    if (process.platform !== 'win32') this.agents.get(id)?.kill(frozen ? 'SIGSTOP' : 'SIGCONT');
  }

  /** Ends an agent's process without warning. */
  async killAgent(id: string): Promise<void> {
    const agent = this.agents.get(id);
    agent?.kill('SIGKILL');
    await agent?.ended;
  }

  /** Resolves when the centre's process has ended. */
  centreEnded(): Promise<void> {
    return this.centre?.ended ?? Promise.resolve();
  }

  /** Ends every process, and removes the directory if it was made here. */
  close(): Promise<void> {
    this.closing ??= this.closeOnce();
    return this.closing;
  }

  private async closeOnce(): Promise<void> {
    const helpers = [...this.agents.values(), ...(this.service ? [this.service] : [])];
    await Promise.all(helpers.map((child) => child.stop(AGENT_GRACE_MS)));
    await this.centre?.stop(CENTRE_GRACE_MS);
    if (this.ownsDataDir) rmSync(this.dataDir, { recursive: true, force: true, maxRetries: 3 });
  }

  private children(): Child[] {
    return [this.centre, this.service, ...this.agents.values()].filter(
      (c) => c !== undefined && c.running,
    ) as Child[];
  }

  private child(name: string, script: string, args: readonly string[], env: NodeJS.ProcessEnv): Child {
    if (this.closing) throw new Error('the demo is ending; nothing more is started');
    const logFile = join(this.logDir, `${name}.log`);
    return new Child({ name, script, args, env: { ...cleanEnvironment(), ...env }, logFile });
  }
}

/** The demo is the same everywhere: what the shell configures for a real centre is not for it. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const foreign = (key: string) => key.startsWith('REACH_') || key === 'DATABASE_URL' || key === 'REDIS_URL';
  return Object.fromEntries(Object.entries(process.env).filter(([key]) => !foreign(key)));
}

function listeningUrl(line: string): string | undefined {
  try {
    const { msg, url } = JSON.parse(line) as { msg?: string; url?: string };
    return msg === 'listening' ? url : undefined;
  } catch {
    return undefined;
  }
}
