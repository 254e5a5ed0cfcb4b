import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import { listSeries, type ListSeries } from '../status-list/list-series.js';
import type { Resources } from './format.js';

/** Series of lists with the status of a configuration's credentials; undefined where they have none. */
export const statusSeriesOf = (
  { status, signer }: Resources,
  { content, issuerKey }: Pick<ActiveConfiguration, 'content' | 'issuerKey'>,
  /** Credential issuer identifier. */
  issuer: string,
): ListSeries | undefined => {
  if (!content.revocable || !status) return undefined;
  const policy = typeof status === 'function' ? status(content) : status;
  if (signer.kind === 'issuerSigner') return listSeries(policy, { kind: 'issuerSigner', issuer });
  const { kmsKeyId, verificationMethod } = issuerKey!;
  return listSeries(policy, { kind: 'pinnedKey', keyId: kmsKeyId, verificationMethod });
};
