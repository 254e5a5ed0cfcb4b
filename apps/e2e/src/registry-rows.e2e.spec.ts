import { waitUntil } from '@attestry/testing';
import { openWorld } from './registry/open-world.js';

const handles = () => process.getActiveResourcesInfo().filter((name) => /^(TCPServer|UDP)/.test(name)).length;

it('a platform that fails to start leaves no server open, which would keep Jest from ending', async () => {
  const before = handles();
  await expect(openWorld({ env: { RATE_LIMIT_API: 'none' } })).rejects.toThrow('RATE_LIMIT_API');
  await waitUntil(() => handles() <= before, { what: 'the end of the servers of the failed world' });
}, 60_000);
