import type {
  ClaimMapping,
  CompactConfiguration,
  CompactConfigurationRequest,
  Duration,
  ErrorDetail,
} from '@attestry/contracts';
import type { PinnedConfiguration } from '../settings/credential-configuration/credential-configuration.decisions.js';
import type { ConfigurationContent } from '../settings/credential-configuration/credential-configuration.events.js';
import { claimMappingFaults, type ClaimRules } from './claim-mappings.decisions.js';
import { expiresTooSoon } from './credential-times.js';
import { displayFaults } from './display.decisions.js';
import { present, storedApproval } from './vc-configuration.decisions.js';

/** Stored content of a configuration whose credentials are CWTs. */
export interface CwtContent extends ConfigurationContent {
  claimMappings: Record<string, ClaimMapping>;
  expiresIn?: Duration;
}

/** Every fault of a request that needs no look-up. */
export const cwtFaults = (
  request: CompactConfigurationRequest,
  { nameFault, valueFault }: ClaimRules,
): ErrorDetail[] => {
  const details: ErrorDetail[] = [];
  const fault = (param: string, msg: string, value?: unknown) =>
    details.push({ ...(value !== undefined && { value }), msg, param, location: 'body' });
  const { type, issuer, display, claimMappings, expiresIn } = request;

  if (type === 'VerifiableCredential') fault('type', 'must not be VerifiableCredential', type);
  if (issuer !== undefined && !issuer.startsWith('did:web:'))
    fault('issuer', 'must be a did:web of this tenant', issuer);
  details.push(...displayFaults(display, { name: type }));
  const wellFormed = (name: string) => (name.isWellFormed() ? nameFault(name) : 'must be well-formed Unicode');
  details.push(...claimMappingFaults(claimMappings, { nameFault: wellFormed, valueFault }));
  if (expiresIn && expiresTooSoon(expiresIn)) fault('expiresIn', 'must be at least 2 hours', expiresIn);
  return details;
};

export const cwtContentOf = (request: CompactConfigurationRequest): CwtContent => {
  const { display, claimMappings, expiresIn, maxIssuances, revocable = true, claimSourceId } = request;
  return present({
    display: display?.map((entry) => present({ ...entry })),
    claimMappings,
    expiresIn: expiresIn && present({ ...expiresIn }),
    maxIssuances,
    approval: storedApproval(request),
    revocable: revocable || undefined,
    claimSourceId,
  }) as CwtContent;
};

export const cwtRecordOf = ({
  id,
  type,
  issuerKey,
  content,
}: PinnedConfiguration<CwtContent>): CompactConfiguration => ({
  id,
  type,
  issuer: issuerKey.did,
  ...content,
  // Absent in configurations of releases that had no revocation, too.
  revocable: content.revocable ?? false,
});
