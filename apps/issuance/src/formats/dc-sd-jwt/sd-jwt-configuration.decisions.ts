import {
  ABSOLUTE_URI_PATTERN,
  hasUserInformation,
  type ClaimMapping,
  type CredentialIssuer,
  type Duration,
  type ErrorDetail,
  type SdJwtConfiguration,
  type SdJwtConfigurationRequest,
} from '@attestry/contracts';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import type { ConfigurationContent } from '../../settings/credential-configuration/credential-configuration.events.js';
import { GUARANTEED_DAYS } from '../../certificates/issuer-certificates/issuer-certificates.decisions.js';
import { typeAddressFault } from '../../vocabularies/published-type/type-address.js';
import { claimMappingFaults } from '../claim-mappings.decisions.js';
import { expiresTooSoon, lifetimeFault } from '../credential-times.js';
import { displayDefaults, displayFaults, imageUrlFault } from '../display.decisions.js';
import { refusedNameFault } from '../reserved-names.js';
import { present, storedApproval } from '../vc-configuration.decisions.js';
import { claimFault } from './claim-fault.js';

export interface SdJwtContent extends ConfigurationContent {
  name: string;
  description?: string;
  issuer: CredentialIssuer;
  vct: string;
  /** Absent when the tenant chose the `vct`: no type metadata is published then. */
  vctIntegrity?: string;
  claimMappings: Record<string, ClaimMapping>;
  expiresIn?: Duration;
}

/** Every fault of a request that needs no look-up. */
export const sdJwtFaults = (request: SdJwtConfigurationRequest): ErrorDetail[] => {
  const details: ErrorDetail[] = [];
  const fault = (param: string, msg: string, value?: unknown) =>
    details.push({ ...(value !== undefined && { value }), msg, param, location: 'body' });
  const { type, vct, issuer, claimMappings, expiresIn } = request;

  if (vct === undefined || vct === null) {
    const msg = typeAddressFault(type);
    if (msg) fault('type', msg, type);
  } else if (!ABSOLUTE_URI_PATTERN.test(vct))
    fault('vct', 'must be an absolute URI such as https://example.com/types/degree or urn:example:degree', vct);
  else if (URL.canParse(vct) && hasUserInformation(vct)) fault('vct', 'must not contain credentials');

  for (const [param, url] of [
    ['issuer.logoUrl', issuer.logoUrl],
    ['issuer.iconUrl', issuer.iconUrl],
  ] as const) {
    const msg = imageUrlFault(url);
    if (msg) fault(param, msg);
  }
  details.push(...displayFaults(request.display, displayDefaults(request)));

  details.push(
    ...claimMappingFaults(claimMappings, {
      nameFault: (name) => refusedNameFault(name) ?? claimFault({ [name]: null })?.msg,
      valueFault: (name, defaultValue) => claimFault({ [name]: defaultValue })?.msg,
    }),
  );
  if (expiresIn && expiresTooSoon(expiresIn)) fault('expiresIn', 'must be at least 2 hours', expiresIn);
  const tooLong = expiresIn && lifetimeFault(expiresIn, GUARANTEED_DAYS);
  if (tooLong) fault('expiresIn', tooLong, expiresIn);
  return details;
};

export const sdJwtContentOf = (
  request: SdJwtConfigurationRequest,
  published: Pick<SdJwtContent, 'vct' | 'vctIntegrity'>,
): SdJwtContent => {
  const { name, description, issuer, display, claimMappings, expiresIn, maxIssuances, revocable, claimSourceId } =
    request;
  return present({
    name,
    description,
    issuer: present({ ...issuer }),
    ...published,
    display: display?.map((entry) => present({ ...entry })),
    claimMappings,
    expiresIn: expiresIn && present({ ...expiresIn }),
    maxIssuances,
    approval: storedApproval(request),
    revocable: revocable || undefined,
    claimSourceId,
  }) as SdJwtContent;
};

export const sdJwtRecordOf = ({
  id,
  type,
  issuerKey,
  content,
}: ActiveConfiguration<SdJwtContent>): SdJwtConfiguration => {
  const { vctIntegrity: _, revocable = false, ...shown } = content;
  return { id, type, ...shown, ...(issuerKey && { issuerDid: issuerKey.did }), revocable };
};
