// Runs a spec file with Node's own loader (typescript.mjs) instead of Jest's: a worker loads a module once, not once for each
// file, which took more time than the tests. Files share modules and globals; Jest's own functions, reports and options stay.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import 'reflect-metadata';

const require = createRequire(import.meta.url);
/** The part of Jest's runner that holds the state of one file: Jest loads it again for each. */
const ADAPTER = join(dirname(require.resolve('jest-circus')), 'jestAdapterInit.js');
const HANDLERS = Symbol.for('EVENT_HANDLERS');

/** Names of globals that the previous file of this worker was given. */
let given = [];

/** A `testRunner` of Jest: the result of one spec file. */
export default async function runFile(globalConfig, config, environment, runtime, testPath, sendMessageToJest) {
  const { console } = globalThis;
  for (const name of given) delete globalThis[name];
  given = Object.keys(config.globals);
  Object.assign(globalThis, config.globals, { console: environment.global.console });
  delete globalThis[HANDLERS];
  delete require.cache[ADAPTER];
  const { initialize, runAndTransformResultsToJestFormat } = require(ADAPTER);
  try {
    await initialize({
      config,
      environment,
      globalConfig,
      localRequire: require,
      parentProcess: process,
      runtime,
      sendMessageToJest,
      setGlobalsForRuntime: (globals) => Object.assign(globalThis, globals),
      testPath,
    });
    // A project runs a file on its own engines, perhaps in the same worker as another.
    await import(`${pathToFileURL(testPath)}?project=${config.displayName.name}`);
    return await runAndTransformResultsToJestFormat({ config, globalConfig, testPath });
  } finally {
    globalThis.console = console;
  }
}
