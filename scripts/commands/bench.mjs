import { join } from 'node:path';
import { root } from '../setup.mjs';

const KINDS = ['rebuild', 'lists', 'statuses', 'webhooks', 'chain', 'wallets', 'against'];

/** docs/performance.md. */
export default {
  group: 'Develop',
  description: 'measure credentials per second next to the cryptographic primitives of the machine',
  options: [
    { flags: '--mode <mode>', about: 'cluster: also as a cluster', choices: ['embedded', 'cluster'] },
    { flags: '--rebuild', about: 'measure the rebuild of projections' },
    { flags: '--lists', about: 'measure pages of small and large lists' },
    { flags: '--statuses', about: 'measure changes of statuses, and the publication of status lists' },
    { flags: '--webhooks', about: 'measure deliveries of webhooks' },
    { flags: '--chain', about: 'measure the verification of hash chains' },
    { flags: '--wallets', about: 'measure the flow with DPoP, attestation and encryption against the plain one' },
    { flags: '--against <ref>', about: 'compare the CPU time per credential with another version' },
    { flags: '--pairs <n>', about: 'with --against or --wallets: number of pairs of slices' },
    { flags: '--only <names>', about: 'for example jwt_vc_json:64,ldp_vc:1, with --rebuild a history' },
    { flags: '--quick', about: 'fewer and shorter measurements, to try the command' },
  ],
  examples: ['npx attestry bench --json', 'npm run bench -- --against main --only jwt_vc_json:64'],
  run: async ({ options }, cli) => {
    const chosen = KINDS.filter((kind) => options[kind] !== undefined);
    if (chosen.length > 1) cli.wrongUsage(`--${chosen.join(' and --')} cannot be combined`);
    const [kind = 'issuance'] = chosen;
    await cli.build();
    // The programs differ in what they accept: each option is passed as one word, as it was parsed.
    const words = Object.entries(options)
      .filter(([name]) => name === 'against' || name !== kind)
      .map(([name, value]) => (value === true ? `--${name}` : `--${name}=${value}`));
    return cli.runProgram(['--no-warnings', join(root, 'bench', 'src', `${kind}.mjs`), ...words], {
      name: `bench ${kind}`,
    });
  },
};
