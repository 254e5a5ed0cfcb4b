import type { ProofType, WebSemanticConfiguration, WebSemanticConfigurationRequest } from '@attestry/contracts';
import type { PinnedContexts } from '../../contexts/context-loader.js';
import type { PinnedConfiguration } from '../../credential-configuration/credential-configuration.decisions.js';
import { vcContentOf, vcRecordOf, type VcContent } from '../vc-configuration.decisions.js';

export const CRYPTOSUITE = 'eddsa-rdfc-2022';

export interface LdpVcContent extends VcContent {
  /** Absent: `eddsa-rdfc-2022`. */
  proofType?: 'Ed25519Signature2018';
}

export const ldpVcContentOf = (request: WebSemanticConfigurationRequest, contexts: PinnedContexts): LdpVcContent => ({
  ...vcContentOf(request, contexts),
  ...(request.proofType === 'Ed25519Signature2018' && { proofType: request.proofType }),
});

export const ldpVcRecordOf = (configuration: PinnedConfiguration<LdpVcContent>): WebSemanticConfiguration => {
  const { proofType = CRYPTOSUITE, ...content } = configuration.content;
  const contexts = content.contexts.map(({ url }) => url);
  return { ...vcRecordOf({ ...configuration, content }), contexts, proofType };
};

/** What a credential of this configuration will name; contexts are tried on it. */
export const trialOf = (
  request: WebSemanticConfigurationRequest,
): { types: string[]; claims: string[]; proofType?: ProofType } => ({
  proofType: request.proofType,
  types: [request.type, ...(request.additionalTypes ?? [])],
  claims: Object.keys(request.claimMappings),
});
