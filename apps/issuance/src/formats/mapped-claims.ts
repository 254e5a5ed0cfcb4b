import type { ClaimMapping } from '@attestry/contracts';
import { parseClaimPath } from './claim-path.js';
import type { ActiveConfiguration } from '../settings/credential-configuration/credential-configuration.decisions.js';
import type { Format } from './format.js';

/** Mappings that select values from the claims for credentials of a configuration. */
export const mappingsOf = (
  module: Pick<Format, 'mappingsOf'>,
  { content }: Pick<ActiveConfiguration, 'content'>,
): Pick<ClaimMapping, 'mapFrom'>[] => {
  if (module.mappingsOf) return module.mappingsOf(content);
  return Object.values((content as { claimMappings?: Record<string, ClaimMapping> }).claimMappings ?? {});
};

/** Outermost name of the claim that is mapped, if one is. */
export const outermostClaim = ({ mapFrom }: Pick<ClaimMapping, 'mapFrom'>): string[] => {
  const [root, name] = (mapFrom !== undefined && parseClaimPath(mapFrom)) || [];
  return root === 'claims' ? [name!] : [];
};
