import type { ClaimMapping } from '@attestry/contracts';
import { parseClaimPath } from '../credential-configuration/claim-path.js';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import type { Formats } from '../formats/formats.js';

/** What selects values from the claims for credentials of a configuration. */
export const mappingsOf = (
  formats: Formats,
  { format, content }: Pick<ActiveConfiguration, 'format' | 'content'>,
): Pick<ClaimMapping, 'mapFrom'>[] => {
  const module = formats.byName[format];
  if (module.mappingsOf) return module.mappingsOf(content);
  return Object.values((content as { claimMappings?: Record<string, ClaimMapping> }).claimMappings ?? {});
};

/** Outermost name of the claim that is mapped, if one is. */
export const outermostClaim = ({ mapFrom }: Pick<ClaimMapping, 'mapFrom'>): string[] => {
  const [root, name] = (mapFrom !== undefined && parseClaimPath(mapFrom)) || [];
  return root === 'claims' ? [name!] : [];
};
