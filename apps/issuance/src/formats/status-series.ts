import type { IssuingSigner } from '../certificates/issuer-certificates/issuer-signers.js';
import type { ActiveConfiguration } from '../settings/credential-configuration/credential-configuration.decisions.js';
import type { ConfigurationContent } from '../settings/credential-configuration/credential-configuration.events.js';
import { issuerHost } from '../settings/credential-configuration/configurations-under.js';
import { listSeries, type ListSeries } from '../status-lists/status-list/list-series.js';
import type { Resources } from './format.js';

/** Whether the credentials of a configuration refer to status lists. */
export const hasStatus = ({ status }: Resources, { revocable }: ConfigurationContent): boolean =>
  revocable === true && status !== undefined;

/**
 * Series of lists with the status of a configuration's credentials; undefined where they have none. Those of mobile documents are known once
 * the document signer is: they belong to its IACA.
 */
export const statusSeriesOf = (
  { status, signer }: Resources,
  { type: docType, content, issuerKey }: Pick<ActiveConfiguration, 'type' | 'content' | 'issuerKey'>,
  /** Credential issuer identifier. */
  issuer: string,
  documentSigner?: IssuingSigner,
): ListSeries | undefined => {
  if (!content.revocable || !status) return undefined;
  const policy = typeof status === 'function' ? status(content) : status;
  if (signer.kind === 'issuerSigner') {
    const { did } = issuerKey ?? {};
    const host = did && issuerHost(did);
    return listSeries(policy, {
      kind: 'issuerSigner',
      issuer,
      ...(did !== undefined && host !== undefined && host !== issuerHost(issuer) && { did }),
    });
  }
  if (signer.kind === 'documentSigner') {
    const { iacaId, domains } = documentSigner?.certificate ?? {};
    if (iacaId === undefined) return undefined;
    return listSeries(policy, {
      kind: 'statusListSigner',
      issuer,
      iacaId,
      docType,
      ...(domains && { domains }),
    });
  }
  const { kmsKeyId, verificationMethod } = issuerKey!;
  return listSeries(policy, { kind: 'pinnedKey', keyId: kmsKeyId, verificationMethod });
};
