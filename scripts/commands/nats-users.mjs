import { writeFileSync } from 'node:fs';

/** docs/guides/nats.md. `npm run docs` writes the file for the default namespace to deploy/nats/users.conf. */
export default {
  group: 'Operate',
  description: 'print or write the NATS users and permissions for a namespace',
  options: [
    { flags: '--namespace <name>', about: 'value of NATS_NAMESPACE', default: 'attestry' },
    { flags: '--out <file>', about: 'write to a file instead of standard output' },
  ],
  examples: ['npm run nats-users -- --namespace acme --out users.conf'],
  run: async ({ options: { namespace, out } }, cli) => {
    await cli.build();
    const { natsUsers } = await import('../nats-users.mjs');
    const text = await natsUsers(namespace);
    if (out !== undefined) writeFileSync(out, text);
    else if (!cli.json) process.stdout.write(text);
    return { document: { ok: true, namespace, ...(out === undefined ? { text } : { file: out }) } };
  },
};
