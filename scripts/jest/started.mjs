// Processes that the global setups of a Jest run have started, for its global teardown.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt, root } from '../setup.mjs';

const stops = [];

/** @param {() => Promise<void>} stop called at the end of the run, the last first */
export function onTeardown(stop) {
  stops.push(stop);
}

/** libs/testing, built: a global setup runs outside the modules that Jest compiles. */
export async function testKit() {
  await ensureBuilt();
  return import(pathToFileURL(join(root, 'libs', 'testing', 'dist', 'index.js')));
}

export default async function stopAll() {
  for (const stop of stops.splice(0).reverse()) await stop();
}
