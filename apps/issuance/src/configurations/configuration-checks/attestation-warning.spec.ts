import type { CredentialFormat } from '@attestry/contracts';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { attestationWarnings } from './attestation-warning.js';

const formats = { 'dc+sd-jwt': {}, cwt: { isOwnFormat: true } } as Parameters<typeof attestationWarnings>[0];
const made = (id: string, hasAttestation: boolean, format: CredentialFormat = 'dc+sd-jwt') =>
  ({ id, format, content: hasAttestation ? { keyAttestation: {} } : {} }) as unknown as ActiveConfiguration;
const textsOf = (saved: ActiveConfiguration, ...all: ActiveConfiguration[]) =>
  attestationWarnings(formats, saved, all).map(({ param, msg }) => `${param} ${msg.split(':')[0]!}`);

describe('a configuration without key attestations [T748]', () => {
  it('has a warning where another requires them', () => {
    const expected = ['keyAttestation is absent, while other credential configurations of the tenant have it'];
    expect(textsOf(made('b', false), made('a', true), made('b', false))).toEqual(expected);
  });

  it('has none where it is alone, where no other has them, and where wallets skip its format or that of the other', () => {
    expect(textsOf(made('b', false), made('b', true))).toEqual([]);
    expect(textsOf(made('b', false), made('a', false), made('b', false))).toEqual([]);
    expect(textsOf(made('b', false, 'cwt'), made('a', true))).toEqual([]);
    expect(textsOf(made('b', false), made('a', true, 'cwt'))).toEqual([]);
  });
});

describe('a configuration with key attestations [T748]', () => {
  it('has a warning that names those that lack them, ten at most', () => {
    const lacking = Array.from({ length: 12 }, (_, n) => made(`c${n}`, false));
    const [text] = textsOf(made('b', true), made('a', true), ...lacking, made('d', false, 'cwt'));
    expect(text).toBe(
      `keyAttestation is set, while other credential configurations of the tenant lack it (${lacking
        .slice(0, 10)
        .map(({ id }) => id)
        .join(', ')} and 2 more)`,
    );
  });

  it('has none where all others have them', () => {
    expect(textsOf(made('b', true), made('a', true), made('b', true), made('d', false, 'cwt'))).toEqual([]);
  });
});
