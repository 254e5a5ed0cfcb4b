import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { attestationWarnings } from './attestation-warning.js';

const made = (id: string, hasAttestation: boolean) =>
  ({ id, content: hasAttestation ? { keyAttestation: {} } : {} }) as unknown as ActiveConfiguration;
const paramsOf = (...given: Parameters<typeof attestationWarnings>) =>
  attestationWarnings(...given).map(({ param }) => param);

describe('a configuration without key attestations [T748]', () => {
  it('has a warning where another requires them, unless wallets skip its format', () => {
    const all = [made('a', true), made('b', false)];
    expect(paramsOf({}, made('b', false), all)).toEqual(['keyAttestation']);
    expect(paramsOf({ isOwnFormat: true }, made('b', false), all)).toEqual([]);
  });

  it('has none where it is alone, where no other has them, and where it is replaced by one that has', () => {
    expect(paramsOf({}, made('b', false), [made('b', true)])).toEqual([]);
    expect(paramsOf({}, made('b', false), [made('a', false), made('b', false)])).toEqual([]);
    expect(paramsOf({}, made('b', true), [made('a', true)])).toEqual([]);
  });
});
