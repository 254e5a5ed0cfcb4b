import { createHook, executionAsyncId } from 'node:async_hooks';
import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Session, type Profiler } from 'node:inspector';

/** Replies of a process that preloads this module, by message. */
export type ProbeMessage =
  'begin' | 'end' | 'verifications' | 'count-blocks' | 'blocks' | 'count-functions' | 'functions' | 'count-all' | 'all';

const TICK_MS = 2;
const VERIFICATIONS = 1000;

let before = process.threadCpuUsage();
let largest = 0;

/** CPU time of the main thread between two ticks: what ran without letting the timer in. */
const tick = (): void => {
  const now = process.threadCpuUsage();
  largest = Math.max(largest, now.user - before.user + (now.system - before.system));
  before = now;
};
const ticks = setInterval(tick, TICK_MS).unref();

const session = new Session();
let isConnected = false;

/** CPU milliseconds of 1,000 ES256 verifications. */
const timeVerifications = (): number => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const data = Buffer.from('a key proof');
  const signature = sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  const start = process.threadCpuUsage();
  for (let n = 0; n < VERIFICATIONS; n++)
    verify('sha256', data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature);
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
};

const startCoverage = (detailed: boolean): void => {
  if (!isConnected) session.connect();
  isConnected = true;
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed });
};

const takeCoverage = (read: (scripts: Profiler.ScriptCoverage[]) => void): void =>
  session.post('Profiler.takePreciseCoverage', (error, taken?: Profiler.TakePreciseCoverageReturnType) => {
    if (error) throw error;
    read(taken!.result);
  });

/** Executed blocks since the last call, as V8 counts them: a range that ran a hundred times counts a hundred. */
const countBlocks = (scripts: Profiler.ScriptCoverage[]): number => {
  let blocks = 0;
  for (const { functions } of scripts)
    for (const { ranges } of functions) for (const { count } of ranges) blocks += count;
  return blocks;
};

const OWN_CODE = /\/((?:apps|libs)\/[^/]+\/dist\/.*)$/;

/** Functions of apps/ and libs/ that were called: `<compiled file>:<offset> <name>`. */
const calledFunctions = (scripts: Profiler.ScriptCoverage[]): string[] =>
  scripts.flatMap(({ url, functions }) => {
    const file = OWN_CODE.exec(url)?.[1];
    if (file === undefined || url === import.meta.url) return [];
    return functions
      .filter(({ ranges }) => ranges[0]!.count > 0)
      .map(({ functionName, ranges }) => `${file}:${ranges[0]!.startOffset} ${functionName}`);
  });

const answer = (value: unknown): void => void process.send!(value);

/** Async resources created by the measured request, directly or indirectly. */
const requestResources = new Set<number>();
/** Functions called in its async context. */
const called = new Set<string>();
let isInRequest = false;

/** At each switch between the context of the request and others, the functions called since the last switch are assigned to the one that ran. */
const switchContext = (next: boolean): void => {
  if (next === isInRequest) return;
  takeCoverage((scripts) => {
    if (isInRequest) for (const name of calledFunctions(scripts)) called.add(name);
  });
  isInRequest = next;
};

/** Origin of a resolved promise outside the context of the request: the continuation that ran, and the functions on its stack. */
interface Resolver {
  resource: number;
  stack: NodeJS.CallSite[];
}
const resolvers = new Map<number, Resolver>();
/** The promise that a continuation waits for. */
const awaited = new Map<number, number>();

const stackNow = (): NodeJS.CallSite[] => {
  const { prepareStackTrace } = Error;
  Error.prepareStackTrace = (_error, sites) => sites;
  const { stack } = new Error();
  Error.prepareStackTrace = prepareStackTrace;
  return stack as unknown as NodeJS.CallSite[];
};

/**
 * Functions outside the context of the request that its answer waits for: those that resolved a promise which the request created or awaited
 * (with the reply of a SQLite thread, for example), or which such a continuation awaited.
 */
const resolvingFunctions = (): Set<string> => {
  const needed = new Set<number>();
  for (const id of requestResources) needed.add(id).add(awaited.get(id) ?? 0);
  const found = new Set<string>();
  // The loop visits what is added meanwhile.
  for (const id of needed) {
    const resolver = resolvers.get(id);
    if (!resolver) continue;
    needed.add(awaited.get(resolver.resource) ?? 0);
    for (const site of resolver.stack) {
      const file = OWN_CODE.exec(site.getFileName() ?? '')?.[1];
      if (file !== undefined && !import.meta.url.endsWith(file)) found.add(`${file}: ${site.getFunctionName() ?? ''}`);
    }
  }
  return found;
};

const outer: boolean[] = [];
const contexts = createHook({
  init: (id, _type, trigger) => {
    awaited.set(id, trigger);
    if (isInRequest) requestResources.add(id);
  },
  before: (id) => {
    outer.push(isInRequest);
    switchContext(requestResources.has(id));
  },
  after: () => switchContext(outer.pop() ?? false),
  promiseResolve: (id) => {
    if (!isInRequest) resolvers.set(id, { resource: executionAsyncId(), stack: stackNow() });
  },
});

/** The threads of SQLite files whose jobs a credential request waits for. Threads of read models belong to followers. */
const THREADS =
  /^libs\/(sqlite\/dist\/sqlite\.worker|event-store\/dist\/embedded\/embedded\.jobs|messaging\/dist\/in-process\/feed\.jobs|keys\/dist\/embedded\/replay\.jobs)\.js:/;

const workers = new Set<string>();
let lastCall = 0;
const answers = new Map<number, (result: unknown) => void>();

const callWorker = (sessionId: string, method: string, params: object = {}): Promise<unknown> =>
  new Promise((resolve) => {
    const id = ++lastCall;
    answers.set(id, resolve);
    session.post('NodeWorker.sendMessageToWorker', { sessionId, message: JSON.stringify({ id, method, params }) });
  });

const attachWorkers = async (): Promise<void> => {
  startCoverage(false);
  session.on('NodeWorker.attachedToWorker', ({ params }) => workers.add(params.sessionId));
  session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
    const { id, result } = JSON.parse(params.message) as { id?: number; result: unknown };
    if (id !== undefined) answers.get(id)?.(result);
  });
  await new Promise<void>((resolve) =>
    session.post('NodeWorker.enable', { waitForDebuggerOnStart: false }, () => resolve()),
  );
  for (const sessionId of workers) {
    await callWorker(sessionId, 'Profiler.enable');
    await callWorker(sessionId, 'Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }
};

/** Functions called in these threads since the last call. */
const takeWorkers = async (): Promise<string[]> => {
  const taken = await Promise.all(
    [...workers].map((sessionId) => callWorker(sessionId, 'Profiler.takePreciseCoverage')),
  );
  const all = taken.flatMap((result) => calledFunctions((result as Profiler.TakePreciseCoverageReturnType).result));
  return [...new Set(all)].filter((name) => THREADS.test(name));
};

let functions: string[] | undefined;

const begin = (): void => {
  unsubscribe('http.server.request.start', begin);
  requestResources.add(executionAsyncId());
  contexts.enable();
  takeCoverage(() => {});
  isInRequest = true;
};

/** In a microtask: the other listeners of the response have run by then. */
const end = (): void =>
  queueMicrotask(() => {
    unsubscribe('http.server.response.finish', end);
    contexts.disable();
    switchContext(false);
    functions = [...called, ...resolvingFunctions()];
  });

/** Counts the functions of the next request, from its arrival to the end of its response. */
const countFunctions = (): void => {
  clearInterval(ticks);
  startCoverage(false);
  for (const all of [requestResources, called, resolvers, awaited]) all.clear();
  outer.length = 0;
  functions = undefined;
  subscribe('http.server.request.start', begin);
  subscribe('http.server.response.finish', end);
};

/** The client may have read the response before the last listener has run in this process. */
const answerFunctions = (): void => {
  if (functions) answer(functions);
  else setImmediate(answerFunctions);
};

process.on('message', (message: ProbeMessage) => {
  switch (message) {
    case 'begin':
      tick();
      largest = 0;
      return answer(null);
    case 'end':
      // The tick that ends the last block is still to come.
      setTimeout(() => {
        tick();
        answer(largest / 1000);
      }, 2 * TICK_MS);
      return;
    case 'verifications':
      return answer(timeVerifications());
    case 'count-blocks':
      startCoverage(true);
      return answer(null);
    case 'blocks':
      return takeCoverage((scripts) => answer(countBlocks(scripts)));
    case 'count-functions':
      countFunctions();
      return answer(null);
    case 'functions':
      return answerFunctions();
    case 'count-all':
      return void attachWorkers().then(() => answer(null));
    case 'all':
      return void takeWorkers().then((inThreads) =>
        takeCoverage((scripts) => answer([...calledFunctions(scripts), ...inThreads])),
      );
  }
});
// The test ends the process by a signal: the channel does not keep it alive.
process.channel?.unref();
