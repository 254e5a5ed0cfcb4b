import { SERVICE_NAMES, SERVICES } from '@attestry/contracts';
import type { EngineNeed } from '@attestry/service-kit';
import { loadServices } from './platform.js';

/** Engine of the manifest that provides what a service needs, with several processes. */
const ENGINE: Record<EngineNeed, 'database' | 'redis'> = {
  domain: 'database',
  operations: 'database',
  keys: 'database',
  'sign-in': 'database',
  'replay-guard': 'redis',
  rates: 'redis',
};

it('runs the services of the manifest, each with the engines that the manifest lists', async () => {
  const definitions = await loadServices();
  expect(definitions.map(({ name }) => name)).toEqual(SERVICE_NAMES);
  for (const { name, needs } of definitions) {
    const listed = SERVICES[name].engines.filter((engine) => engine !== 'eventStore');
    expect([name, [...new Set(needs.map((need) => ENGINE[need]))].sort()]).toEqual([name, [...listed].sort()]);
  }
});
