import { closeSync, existsSync, openSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { DatabaseSync } from 'node:sqlite';
import type { Job, Jobs, JobsModule } from './jobs.js';

type Call = [id: number, job: string, args: unknown];
type Answer = [id: number, failed: 0 | 1, value: unknown];
interface ThreadData {
  file: string;
  modules: { jobs: string; options: unknown }[];
  pragmas: string[];
}

const { file, modules, pragmas } = workerData as ThreadData;
// Node alone runs this file from source, too, and does not find a `.ts` by the name of a `.js`.
const { markReleasedFile } = (await import(
  new URL(`./file-format${extname(import.meta.url)}`, import.meta.url).href
)) as typeof import('./file-format.js');
// Readable only for the owner, and so are its -wal and -shm. Only when absent: closing a file drops the process's locks on it.
if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
const db = new DatabaseSync(file, { timeout: 5000 });
markReleasedFile(db, file);

/** Files that are made again from events: a power loss may take their last transactions, rows together with their checkpoint (ADR 0069). */
const DERIVED_FILES: ReadonlySet<string> = new Set(['read-models.db', 'analytics.db']);

// FULL: a commit is on the disk before it is acknowledged (WAL alone would only promise consistency).
const [level, value] = DERIVED_FILES.has(basename(file)) ? ['NORMAL', 1] : ['FULL', 2];
db.exec(
  `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${level}; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;`,
);
for (const pragma of pragmas) db.exec(`PRAGMA ${pragma}`);
const { journal_mode: mode } = db.prepare('PRAGMA journal_mode').get() as { journal_mode: string };
if (mode !== 'wal') throw new Error(`PRAGMA journal_mode is ${mode}, expected wal for ${file}`);
const { synchronous } = db.prepare('PRAGMA synchronous').get() as { synchronous: number };
if (synchronous !== value)
  throw new Error(`PRAGMA synchronous is ${synchronous}, expected ${value} (${level}) for ${file}`);

const jobs: Jobs = {
  // Several writes, all or none.
  '*': {
    kind: 'write',
    execute: (calls: [job: string, args: unknown][]) => {
      const answers: unknown[] = [];
      for (const [at, [name, args]] of calls.entries())
        try {
          if (jobs[name]?.kind !== 'write') throw new Error(`${name} is not a write`);
          answers.push(jobs[name].execute(args));
        } catch (error) {
          throw Object.assign(error as Error, { at });
        }
      return answers;
    },
  },
};
for (const { jobs: url, options } of modules) {
  const added = ((await import(url)) as JobsModule).createJobs(db, options);
  for (const [name, job] of Object.entries(added)) {
    if (jobs[name]) throw new Error(`two modules have the job ${name}`);
    jobs[name] = job;
  }
}
const begin = db.prepare('BEGIN IMMEDIATE');
const commit = db.prepare('COMMIT');
const savepoint = db.prepare('SAVEPOINT job');
const release = db.prepare('RELEASE job');
const rollbackTo = db.prepare('ROLLBACK TO job');

const errorFields = (error: unknown) => {
  const e = error as Error & { code?: string; details?: unknown; at?: number };
  return {
    name: e?.name ?? 'Error',
    message: e?.message ?? String(error),
    code: e?.code,
    details: e?.details,
    at: e?.at,
  };
};
const attempt = (id: number, job: Job | undefined, name: string, args: unknown): Answer => {
  try {
    if (!job) throw new Error(`unknown job ${name}`);
    return [id, 0, job.execute(args)];
  } catch (error) {
    return [id, 1, errorFields(error)];
  }
};

/**
 * Runs a group of writes as one transaction. Most groups have no failing job, so it runs without savepoints first; when one fails, all are
 * rolled back and run again with a savepoint each, so that only the failing job is undone. When the commit itself fails, all callers get
 * the error.
 */
const runWrites = (calls: Call[], savepoints = false): Answer[] => {
  const answers: Answer[] = [];
  try {
    begin.run();
    for (const [id, name, args] of calls) {
      if (savepoints) savepoint.run();
      const answer = attempt(id, jobs[name], name, args);
      answers.push(answer);
      if (savepoints) {
        if (answer[1]) rollbackTo.run();
        release.run();
      } else if (answer[1]) {
        db.exec('ROLLBACK');
        return calls.length === 1 ? answers : runWrites(calls, true);
      }
    }
    commit.run();
    return answers;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    return calls.map(([id]) => [id, 1, errorFields(error)]);
  }
};

parentPort!.on('message', (calls: Call[] | 'close') => {
  if (calls === 'close') {
    db.close();
    parentPort!.postMessage('closed');
    parentPort!.close();
    return;
  }
  const answers: Answer[] = [];
  let writes: Call[] = [];
  let others: Call[] = [];
  // Reads run after all writes that came with them: a read between the writes would split them, and each part would need its own fsync.
  // An exclusive job runs after the writes before it and before those that follow it.
  for (const [index, call] of calls.entries()) {
    const kind = jobs[call[1]]?.kind;
    (kind === 'write' ? writes : others).push(call);
    const next = calls[index + 1];
    if (kind !== 'exclusive' && next && jobs[next[1]]?.kind !== 'exclusive') continue;
    if (writes.length) answers.push(...runWrites(writes));
    for (const [id, name, args] of others) answers.push(attempt(id, jobs[name], name, args));
    writes = [];
    others = [];
  }
  parentPort!.postMessage(answers);
});
parentPort!.postMessage('ready');
