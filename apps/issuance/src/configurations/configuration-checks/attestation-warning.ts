import type { CredentialFormat, Warning } from '@attestry/contracts';
import type { Format } from '../../formats/format.js';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';

type Attesting = Pick<ActiveConfiguration, 'id' | 'format' | 'content'>;
type ByFormat = Readonly<Record<CredentialFormat, Pick<Format, 'isOwnFormat'>>>;

/** Most configurations that a warning names. */
const MOST_NAMED = 10;

/**
 * Key attestations that some configurations of a tenant require and others do not: wallets of the EUDI reference implementation then refuse the
 * metadata as a whole. Formats that these wallets skip do not count.
 */
export const attestationWarnings = (formats: ByFormat, saved: Attesting, all: readonly Attesting[]): Warning[] => {
  const isRead = ({ format }: Attesting) => !formats[format].isOwnFormat;
  if (!isRead(saved)) return [];
  const [having, lacking] = [true, false].map((has) =>
    all.filter((it) => it.id !== saved.id && isRead(it) && Boolean(it.content.keyAttestation) === has),
  ) as [Attesting[], Attesting[]];
  if (!saved.content.keyAttestation) return having.length > 0 ? [warning('is absent, while other')] : [];
  if (lacking.length === 0) return [];
  const ids = lacking.slice(0, MOST_NAMED).map(({ id }) => id);
  const more = lacking.length > ids.length ? ` and ${lacking.length - ids.length} more` : '';
  return [warning('is set, while other', `lack it (${ids.join(', ')}${more})`)];
};

const warning = (state: string, others = 'have it'): Warning => ({
  param: 'keyAttestation',
  msg: `${state} credential configurations of the tenant ${others}: EUDI wallets (from 0.12) then read no credential of the tenant; give it to all, or use another tenant`,
});
