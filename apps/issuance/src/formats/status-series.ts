import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import { issuerHost } from '../credential-configuration/configurations-under.js';
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
  if (signer.kind === 'issuerSigner') {
    const { did } = issuerKey ?? {};
    const host = did && issuerHost(did);
    return listSeries(status, {
      kind: 'issuerSigner',
      issuer,
      ...(did !== undefined && host !== undefined && host !== issuerHost(issuer) && { did }),
    });
  }
  const { kmsKeyId, verificationMethod } = issuerKey!;
  return listSeries(status, { kind: 'pinnedKey', keyId: kmsKeyId, verificationMethod });
};
