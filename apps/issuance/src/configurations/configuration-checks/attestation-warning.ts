import type { Warning } from '@attestry/contracts';
import type { Format } from '../../formats/format.js';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';

type Attesting = Pick<ActiveConfiguration, 'id' | 'content'>;

/**
 * For a configuration without key attestations in a tenant that requires them elsewhere: wallets of the EUDI reference implementation then refuse
 * the metadata as a whole.
 */
export const attestationWarnings = (
  { isOwnFormat }: Pick<Format, 'isOwnFormat'>,
  { id, content }: Attesting,
  all: readonly Attesting[],
): Warning[] => {
  if (isOwnFormat || content.keyAttestation) return [];
  if (!all.some((other) => other.id !== id && other.content.keyAttestation)) return [];
  return [{ param: 'keyAttestation', msg: MIXED }];
};

const MIXED =
  'is absent, while other credential configurations of the tenant have it: EUDI wallets (from 0.12) then read no credential of the tenant; give it to all, or use another tenant';
