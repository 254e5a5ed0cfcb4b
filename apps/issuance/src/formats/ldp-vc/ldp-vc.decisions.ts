import {
  invalidBody,
  type ProofType,
  type WebSemanticConfiguration,
  type WebSemanticConfigurationRequest,
} from '@attestry/contracts';
import { mapKnownClaims } from '../map-claims.js';
import type { PinnedContexts } from '../../vocabularies/contexts/context-loader.js';
import type { PinnedConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import type { PinnedIssuerKey } from '../../settings/credential-configuration/credential-configuration.events.js';
import type { StatusPolicy } from '../../status-lists/status-list/list-series.js';
import { LIST_SIZE } from '../../status-lists/status-list/packed-statuses.js';
import { vcContentOf, vcRecordOf, type VcContent } from '../vc-configuration.decisions.js';
import { isDataModel1 } from './base-context.js';
import type { TrialCredential } from './tenant-contexts.js';

const DEFAULT_PROOF_TYPE = 'eddsa-rdfc-2022';

export interface LdpVcContent extends VcContent {
  /** Absent: `eddsa-rdfc-2022`. */
  proofType?: Exclude<ProofType, typeof DEFAULT_PROOF_TYPE>;
}

export const proofTypeOf = ({ proofType }: { proofType?: ProofType }): ProofType => proofType ?? DEFAULT_PROOF_TYPE;

/** The kind of key that each proof is made with. */
const ALGORITHMS: Readonly<Record<ProofType, PinnedIssuerKey['algorithm']>> = {
  'eddsa-rdfc-2022': 'Ed25519',
  Ed25519Signature2018: 'Ed25519',
  'ecdsa-rdfc-2019': 'P-256',
};
/** The list follows from the version of the data model. */
export const statusPolicyOf = (of: { proofType?: ProofType }): StatusPolicy => ({
  kind: 'listCredential',
  tokenType: isDataModel1(of) ? 'revocationList2020' : 'bitstring',
  size: LIST_SIZE,
});

export const algorithmOf = (of: { proofType?: ProofType }): PinnedIssuerKey['algorithm'] => ALGORITHMS[proofTypeOf(of)];

/** The key of a configuration is pinned at its creation, so only a proof that is made with such a key can replace another. @throws AppError 400 */
export const checkProofTypeChange = (request: WebSemanticConfigurationRequest, replaced: LdpVcContent): void => {
  const algorithm = algorithmOf(replaced);
  if (algorithmOf(request) === algorithm) return;
  const allowed = Object.entries(ALGORITHMS).flatMap(([name, needed]) => (needed === algorithm ? [name] : []));
  throw invalidBody(
    'proofType',
    `must be ${allowed.join(' or ')}, because the configuration signs with a key of type ${algorithm}`,
    request.proofType,
  );
};

export const ldpVcContentOf = (request: WebSemanticConfigurationRequest, contexts: PinnedContexts): LdpVcContent => ({
  ...vcContentOf(request, contexts),
  ...(proofTypeOf(request) !== DEFAULT_PROOF_TYPE && { proofType: request.proofType as LdpVcContent['proofType'] }),
  ...(request.persist === true && { persist: true }),
});

export const ldpVcRecordOf = (configuration: PinnedConfiguration<LdpVcContent>): WebSemanticConfiguration => {
  const { proofType = DEFAULT_PROOF_TYPE, ...content } = configuration.content;
  const contexts = content.contexts.map(({ url }) => url);
  return {
    ...vcRecordOf({ ...configuration, content }),
    contexts,
    proofType,
    persist: configuration.content.persist === true,
  };
};

/** Names that a credential of this configuration will have; contexts are tried on it. */
export const trialOf = (request: WebSemanticConfigurationRequest): TrialCredential => ({
  proofType: request.proofType,
  revocable: request.revocable,
  types: [request.type, ...(request.additionalTypes ?? [])],
  claims: Object.keys(request.claimMappings),
  defaults: mapKnownClaims(request.claimMappings, { claims: {} }),
});
