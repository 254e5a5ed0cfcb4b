import type {
  Approval,
  ClaimMapping,
  CredentialBranding,
  CredentialIssuer,
  Duration,
  ErrorDetail,
  JwtVcConfiguration,
  JwtVcConfigurationRequest,
} from '@attestry/contracts';
import type { PinnedContexts } from '../vocabularies/contexts/context-loader.js';
import type { PinnedConfiguration } from '../settings/credential-configuration/credential-configuration.decisions.js';
import type { ConfigurationContent } from '../settings/credential-configuration/credential-configuration.events.js';
import { claimMappingFaults, type ClaimRules } from './claim-mappings.decisions.js';
import { refusedNameFault, reservedName } from './reserved-names.js';
import { displayDefaults, displayFaults, imageUrlFault } from './display.decisions.js';

/** Stored content of a configuration whose credentials follow the W3C Verifiable Credentials Data Model. */
export interface VcContent extends ConfigurationContent {
  additionalTypes: string[];
  name: string;
  description?: string;
  issuer: CredentialIssuer;
  credentialBranding?: CredentialBranding;
  claimMappings: Record<string, ClaimMapping>;
  expiresIn?: Duration;
  /** Stored by every release, empty where the format has none. */
  contexts: PinnedContexts;
}

/** Requirements of a format beside the rules of the data model. */
export interface VcRules extends Pick<ClaimRules, 'valueFault'> {
  /** The format can keep issued credentials. */
  persists?: true;
  /** Fault of a type or of the name of a claim. */
  termFault?: (term: string) => string | undefined;
}

/** Members of `credentialSubject` with a meaning of their own (VCDM 2.0 section 4.5). */
const RESERVED_CLAIMS: ReadonlyMap<string, string> = new Map([
  ['id', 'id of credentialSubject is the identifier of the holder'],
  ['type', 'type of credentialSubject is the kind of the subject'],
]);
const UNITS = ['years', 'months', 'weeks', 'days', 'hours', 'minutes', 'seconds'] as const;
const isPositive = (duration: Duration): boolean => UNITS.reduce((sum, unit) => sum + (duration[unit] ?? 0), 0) > 0;

/** Fault of the name of a member of `credentialSubject`. */
export const subjectNameFault = (name: string): string | undefined => {
  if (name.startsWith('@')) return 'must not start with @';
  const why = RESERVED_CLAIMS.get(name);
  return why === undefined ? refusedNameFault(name) : reservedName(why);
};

/** Every fault of a request that needs no look-up. */
export const vcFaults = (
  request: JwtVcConfigurationRequest,
  { persists, termFault, valueFault }: VcRules = {},
): ErrorDetail[] => {
  const details: ErrorDetail[] = [];
  const fault = (param: string, msg: string, value?: unknown) =>
    details.push({ ...(value !== undefined && { value }), msg, param, location: 'body' });

  const types = [request.type, ...(request.additionalTypes ?? [])];
  types.forEach((type, index) => {
    const param = index === 0 ? 'type' : `additionalTypes.${index - 1}`;
    if (type === 'VerifiableCredential') fault(param, 'must not be VerifiableCredential', type);
    else if (types.indexOf(type) < index) fault(param, 'must not repeat a type', type);
    else if (type.startsWith('@')) fault(param, 'must not start with @', type);
    else {
      const msg = termFault?.(type);
      if (msg) fault(param, msg, type);
    }
  });

  for (const [param, url] of [
    ['issuer.logoUrl', request.issuer.logoUrl],
    ['issuer.iconUrl', request.issuer.iconUrl],
    ['credentialBranding.watermarkImageUrl', request.credentialBranding?.watermarkImageUrl],
  ] as const) {
    const msg = imageUrlFault(url);
    if (msg) fault(param, msg);
  }

  details.push(...displayFaults(request.display, displayDefaults(request)));

  const nameFault = (name: string): string | undefined => subjectNameFault(name) ?? termFault?.(name);
  details.push(...claimMappingFaults(request.claimMappings, { nameFault, valueFault }));

  if (request.expiresIn && !isPositive(request.expiresIn))
    fault('expiresIn', 'must be longer than 0', request.expiresIn);
  if (request.persist === true && !persists) fault('persist', 'is not supported yet', true);

  return details;
};

/** Members without a value are left out. */
export const present = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined && member !== null)) as T;

/** The default is not stored. */
export const storedApproval = ({ approval }: { approval?: Approval }): 'manual' | undefined =>
  approval === 'manual' ? approval : undefined;

export const vcContentOf = (request: JwtVcConfigurationRequest, contexts: PinnedContexts): VcContent => {
  const { description, credentialBranding, display, expiresIn, maxIssuances, revocable, claimSourceId } = request;
  return present({
    additionalTypes: request.additionalTypes ?? [],
    name: request.name,
    description,
    issuer: present({ ...request.issuer }),
    credentialBranding: credentialBranding && present({ ...credentialBranding }),
    display: display?.map((entry) => present({ ...entry })),
    claimMappings: request.claimMappings,
    expiresIn: expiresIn && present({ ...expiresIn }),
    maxIssuances,
    approval: storedApproval(request),
    revocable: revocable || undefined,
    claimSourceId,
    contexts,
  }) as VcContent;
};

export const vcRecordOf = ({ id, type, issuerKey, content }: PinnedConfiguration<VcContent>): JwtVcConfiguration => {
  const { additionalTypes, name, contexts: _pinned, revocable = false, ...rest } = content;
  return { id, type, additionalTypes, name, ...rest, issuerDid: issuerKey.did, revocable, persist: false };
};
