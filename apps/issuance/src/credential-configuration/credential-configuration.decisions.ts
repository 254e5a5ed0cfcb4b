import {
  invalid,
  notFound,
  type ClaimMapping,
  type CredentialFormat,
  type CredentialProfile,
  type Duration,
  type ErrorDetail,
  type JwtVcConfiguration,
  type JwtVcConfigurationRequest,
  type ProofType,
  type WebSemanticConfiguration,
  type WebSemanticConfigurationRequest,
} from '@attestry/contracts';
import { parseClaimPath } from './claim-path.js';
import { linkedDataFault } from './linked-data-limits.js';
import type {
  ConfigurationContent,
  CredentialConfigurationEvent,
  PinnedIssuerKey,
} from './credential-configuration.events.js';
import type { CredentialConfigurationState } from './credential-configuration.state.js';

export type ConfigurationRequest = JwtVcConfigurationRequest &
  Pick<WebSemanticConfigurationRequest, 'contexts' | 'proofType'>;
export type ActiveConfiguration = Extract<CredentialConfigurationState, { status: 'active' }>;

export const FORMAT_OF: Readonly<Record<CredentialProfile, CredentialFormat>> = {
  'web-semantic': 'ldp_vc',
  'jwt-vc': 'jwt_vc_json',
};
/** Keys a format can sign with, best first. */
export const ALGORITHMS_OF: Readonly<Record<CredentialFormat, PinnedIssuerKey['algorithm'][]>> = {
  ldp_vc: ['Ed25519'],
  jwt_vc_json: ['P-256', 'Ed25519'],
};

export const MAX_CLAIM_MAPPINGS = 200;
/** Of `claimMappings` as JSON, UTF-8. */
export const MAX_CLAIM_MAPPINGS_BYTES = 65_536;

/**
 * `id` is the holder's; `type` would name the kind of subject (VCDM 2.0 section 4.5); the others are no data in
 * JavaScript objects, where credentials are built and read.
 */
const RESERVED_CLAIMS = new Set(['id', 'type', '__proto__', 'constructor', 'prototype']);
/** N-Quads allow these characters in an IRI: `@vocab` appends the name to one (RDF 1.1 N-Quads, IRIREF). */
const IRI_PART = /^(?!_:)[^\x00-\x20<>"{}|^`\\]+$/;

const utf8Length = (text: string): number => {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
};

const httpsOrDataUrl = (url: string): boolean =>
  /^data:image\/[a-z0-9.+-]+(?:;[a-z0-9-]+=[\w.+-]+)*(?:;base64)?,[\x21-\x7e]*$/i.test(url) ||
  (/^https:\/\/[\x21-\x7e]+$/i.test(url) && URL.canParse(url));

/** True when an object somewhere inside has a key that JSON-LD would take as a keyword. */
const hasKeyword = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(hasKeyword)
    : typeof value === 'object' && value !== null
      ? Object.entries(value).some(([key, inner]) => key.startsWith('@') || hasKeyword(inner))
      : false;

const mappingFault = (name: string, mapping: unknown, format: CredentialFormat): string | undefined => {
  if (!name || name.length > 1024) return 'must have a name of 1 to 1024 characters';
  if (name.startsWith('@')) return 'must not start with @';
  if (RESERVED_CLAIMS.has(name)) return 'is a reserved name';
  if (format === 'ldp_vc' && !IRI_PART.test(name)) return 'must have only characters that are allowed in an IRI';
  if (typeof mapping !== 'object' || mapping === null || Array.isArray(mapping)) return 'must be an object';
  const unknown = Object.keys(mapping).find((key) => !['mapFrom', 'defaultValue', 'required'].includes(key));
  if (unknown !== undefined)
    return `must not have the member ${unknown.slice(0, 100).toWellFormed()}; allowed: mapFrom, defaultValue and required`;
  const { mapFrom, defaultValue, required } = mapping as ClaimMapping;
  if (mapFrom === undefined && defaultValue === undefined) return 'must have mapFrom or defaultValue';
  if (mapFrom !== undefined && (typeof mapFrom !== 'string' || !parseClaimPath(mapFrom)))
    return "must have a path such as claims.name, claims['name'] or authenticationProvider.subjectId in mapFrom";
  if (defaultValue === null) return 'must not have a null defaultValue';
  const tooLarge = format === 'ldp_vc' && linkedDataFault({ [name]: defaultValue });
  if (tooLarge) return `must not have a defaultValue that makes claims ${tooLarge}`;
  if (format === 'ldp_vc' && hasKeyword(defaultValue)) return 'must not have JSON-LD keywords in defaultValue';
  if (required !== undefined && typeof required !== 'boolean') return 'must have true or false in required';
  return undefined;
};

const UNITS = ['years', 'months', 'weeks', 'days', 'hours', 'minutes', 'seconds'] as const;
const isPositive = (duration: Duration): boolean => UNITS.reduce((sum, unit) => sum + (duration[unit] ?? 0), 0) > 0;

/** Every fault of a request that needs no look-up; the shape is already checked. */
export const configurationFaults = (request: ConfigurationRequest, format: CredentialFormat): ErrorDetail[] => {
  const details: ErrorDetail[] = [];
  const fault = (param: string, msg: string, value?: unknown) =>
    details.push({ ...(value !== undefined && { value }), msg, param, location: 'body' });

  const types = [request.type, ...(request.additionalTypes ?? [])];
  types.forEach((type, index) => {
    const param = index === 0 ? 'type' : `additionalTypes.${index - 1}`;
    if (type === 'VerifiableCredential') fault(param, 'must not be VerifiableCredential', type);
    else if (types.indexOf(type) < index) fault(param, 'must not repeat a type', type);
    else if (type.startsWith('@')) fault(param, 'must not start with @', type);
    else if (format === 'ldp_vc' && !IRI_PART.test(type))
      fault(param, 'must have only characters that are allowed in an IRI', type);
  });

  for (const [param, url] of [
    ['issuer.logoUrl', request.issuer.logoUrl],
    ['issuer.iconUrl', request.issuer.iconUrl],
    ['credentialBranding.watermarkImageUrl', request.credentialBranding?.watermarkImageUrl],
  ] as const)
    if (url !== undefined && !httpsOrDataUrl(url)) fault(param, 'must be an https URL or a data URL of an image');

  const mappings = Object.entries(request.claimMappings);
  if (mappings.length > MAX_CLAIM_MAPPINGS) fault('claimMappings', `must have at most ${MAX_CLAIM_MAPPINGS} entries`);
  else if (utf8Length(JSON.stringify(request.claimMappings)) > MAX_CLAIM_MAPPINGS_BYTES)
    fault('claimMappings', 'must be at most 64 KiB of JSON');
  else {
    for (const [name, mapping] of mappings) {
      const msg = mappingFault(name, mapping, format);
      if (msg) fault(`claimMappings.${name}`, msg);
    }
  }

  if (request.expiresIn && !isPositive(request.expiresIn))
    fault('expiresIn', 'must be longer than 0', request.expiresIn);
  if (request.revocable === true) fault('revocable', 'is not supported yet', true);
  if (request.persist === true) fault('persist', 'is not supported yet', true);
  if (request.claimSourceId !== undefined && request.claimSourceId !== null)
    fault('claimSourceId', 'is not supported yet');

  const contexts = request.contexts ?? [];
  contexts.forEach((url, index) => {
    if (contexts.indexOf(url) < index) fault(`contexts.${index}`, 'must not repeat a context', url);
  });
  return details;
};

/** @throws AppError 400 with a detail per fault */
export const checkConfiguration = (request: ConfigurationRequest, format: CredentialFormat): void => {
  const details = configurationFaults(request, format);
  if (details.length) throw invalid(...details);
};

/** Members without a value are left out. */
const present = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined && member !== null)) as T;

export const contentOf = (
  request: ConfigurationRequest,
  contexts: ConfigurationContent['contexts'],
): ConfigurationContent => {
  const { description, credentialBranding, expiresIn, maxIssuances } = request;
  return present({
    additionalTypes: request.additionalTypes ?? [],
    name: request.name,
    description,
    issuer: present({ ...request.issuer }),
    credentialBranding: credentialBranding && present({ ...credentialBranding }),
    claimMappings: request.claimMappings,
    expiresIn: expiresIn && present({ ...expiresIn }),
    maxIssuances,
    contexts,
    proofType: request.proofType === 'Ed25519Signature2018' ? request.proofType : undefined,
  }) as ConfigurationContent;
};

export const createCredentialConfiguration = (
  state: CredentialConfigurationState,
  command: {
    id: string;
    format: CredentialFormat;
    type: string;
    issuerKey: PinnedIssuerKey;
    content: ConfigurationContent;
    createdAt: Date;
  },
): CredentialConfigurationEvent[] => {
  if (state.status !== 'absent') throw new Error(`credential configuration ${command.id} exists already`);
  return [
    {
      type: 'CredentialConfigurationCreated',
      data: {
        configurationId: command.id,
        format: command.format,
        credentialType: command.type,
        issuerKey: command.issuerKey,
        content: command.content,
        createdAt: command.createdAt.toISOString(),
      },
    },
  ];
};

/** The configuration, if it exists with that format: under the path of another format it does not exist. */
export const activeConfiguration = (
  state: CredentialConfigurationState,
  format: CredentialFormat,
): ActiveConfiguration => {
  if (state.status !== 'active' || state.format !== format) throw notFound();
  return state;
};

/**
 * Replaces everything that may change. `type` and `issuerDid` must be unchanged; an absent `issuerDid` is kept (pinned at creation: ADR
 * 0060).
 */
export const replaceConfigurationContent = (
  state: CredentialConfigurationState,
  command: { format: CredentialFormat; type: string; issuerDid?: string; content: ConfigurationContent },
): CredentialConfigurationEvent[] => {
  const { type, issuerKey } = activeConfiguration(state, command.format);
  const details: ErrorDetail[] = [];
  if (command.type !== type)
    details.push({ value: command.type, msg: 'must not change', param: 'type', location: 'body' });
  if (command.issuerDid !== undefined && command.issuerDid !== issuerKey.did)
    details.push({ value: command.issuerDid, msg: 'must not change', param: 'issuerDid', location: 'body' });
  if (details.length) throw invalid(...details);
  return [{ type: 'CredentialConfigurationContentReplaced', data: { content: command.content } }];
};

export const deleteCredentialConfiguration = (
  state: CredentialConfigurationState,
  command: { format: CredentialFormat },
): CredentialConfigurationEvent[] => {
  const { id, issuerKey } = activeConfiguration(state, command.format);
  return [{ type: 'CredentialConfigurationDeleted', data: { configurationId: id, did: issuerKey.did } }];
};

/** As the API shows it. */
export const configurationRecord = (
  state: Pick<ActiveConfiguration, 'id' | 'format' | 'type' | 'issuerKey' | 'content'>,
): JwtVcConfiguration | WebSemanticConfiguration => {
  const { additionalTypes, name, contexts, proofType, ...rest } = state.content;
  return {
    id: state.id,
    type: state.type,
    additionalTypes,
    name,
    ...rest,
    issuerDid: state.issuerKey.did,
    revocable: false,
    persist: false,
    ...(state.format === 'ldp_vc' && {
      contexts: contexts.map(({ url }) => url),
      proofType: proofType ?? ('eddsa-rdfc-2022' as const),
    }),
  };
};

/** What a credential of this configuration will name; contexts are tried on it. */
export const trialOf = (
  request: ConfigurationRequest,
): { types: string[]; claims: string[]; proofType?: ProofType } => ({
  proofType: request.proofType,
  types: [request.type, ...(request.additionalTypes ?? [])],
  claims: Object.keys(request.claimMappings),
});
