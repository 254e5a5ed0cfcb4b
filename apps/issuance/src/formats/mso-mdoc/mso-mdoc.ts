import { Injectable } from '@nestjs/common';
import {
  oauthError,
  type ElementMapping,
  type ErrorDetail,
  type MobileConfiguration,
  type MobileConfigurationRequest,
} from '@attestry/contracts';
import {
  ClaimFault as EncodingFault,
  elementFault,
  longestMdocLifetimeDays,
  MDL_NAMESPACE,
  missingMdlElements,
  parseDateTime,
  prepareMdoc,
  standardValueFault,
  type MdocElement,
  type PreparedMdoc,
  type UnsignedMdoc as UnsignedDocument,
} from '@attestry/cose';
import type { Signer } from '@attestry/keys';
import { LRUCache } from 'lru-cache';
import type { CredentialDigests } from '../../sessions/issuance-session/issuance-session.events.js';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import type { CertifiedSigner } from '../../certificates/issuer-certificates/issuer-signers.js';
import { isPending, mapClaims, mapKnownClaims, type UserObject } from '../map-claims.js';
import { IDENTIFIER_LIST_SIZE, listIdentifier } from '../../status-lists/status-list/identifier-list.js';
import type { StatusPolicy } from '../../status-lists/status-list/list-series.js';
import { MDOC_LIST_SIZE } from '../../status-lists/status-list/packed-statuses.js';
import type { StatusReference } from '../../status-lists/status-list/token-status-list.js';
import { claimBeyondLimit, deniedClaim, faultOfEncoding, type ClaimFault } from '../claim-faults.decisions.js';
import { claimsSizeFault } from '../claims-size.decisions.js';
import { base64Bytes, jsonBytes } from '../document-size.decisions.js';
import { credentialTimes, lifetimeFault, TimesFault } from '../credential-times.js';
import { claimOf, displayOf } from '../display.decisions.js';
import {
  certifiedSigner,
  type CredentialFacts,
  type Format,
  type FormatMetadata,
  type OfferFacts,
  type TimesRefusal,
  type UnsignedCredential,
} from '../format.js';
import { proofTypesOf } from '../proof-types.js';
import { addDuration } from '../../settings/credential-configuration/validity.js';
import {
  elementTypeOf,
  mdocContentOf,
  mdocDisplayDefaults,
  mdocFaults,
  mdocRecordOf,
  type MdocContent,
} from './mdoc-configuration.decisions.js';

type Mdoc = ActiveConfiguration<MdocContent>;

type MappedTimes = Partial<Record<'validFrom' | 'validUntil', Date>>;

/** Mapped claims. */
interface MdocClaims extends Record<string, unknown> {
  /** By namespace and element identifier. */
  namespaces: Record<string, Record<string, MdocElement>>;
  times: MappedTimes;
}

interface UnsignedMdoc extends UnsignedCredential {
  prepared: PreparedMdoc;
}

const STATUS_LISTS: StatusPolicy = { kind: 'tokenStatusList', tokenType: 'cose', size: MDOC_LIST_SIZE };
const IDENTIFIER_LISTS: StatusPolicy = {
  kind: 'tokenStatusList',
  tokenType: 'identifierList',
  size: IDENTIFIER_LIST_SIZE,
};

/** ISO/IEC 18013-5, OID4VCI Appendix A.2. */
@Injectable()
export class MsoMdoc implements Format<MdocContent, UnsignedMdoc> {
  readonly format = 'mso_mdoc';
  readonly isOfHaip = true;
  readonly profile = 'mobile';
  readonly resources: Format['resources'] = {
    signer: { kind: 'documentSigner' },
    status: (content) => {
      const isIdentified = (content as MdocContent).statusMechanism === 'identifier_list';
      return isIdentified ? IDENTIFIER_LISTS : STATUS_LISTS;
    },
  };
  readonly proofAlgorithms: Format['proofAlgorithms'] = ['ES256'];
  /** DER by fingerprint of the certificate. */
  private readonly documentSigners = new LRUCache<string, Uint8Array>({ max: 1000 });

  faultsOf(request: MobileConfigurationRequest): ErrorDetail[] {
    return mdocFaults(request);
  }

  async contentOf(request: MobileConfigurationRequest): Promise<MdocContent> {
    return mdocContentOf(request);
  }

  recordOf(configuration: Mdoc): MobileConfiguration {
    return mdocRecordOf(configuration);
  }

  metadataOf({ type, content }: Mdoc): FormatMetadata {
    const display = displayOf(content.display, mdocDisplayDefaults(type, content.branding));
    const mandatory = new Set(missingMdlElements(type, {}));
    const claims = Object.entries(content.claimMappings).flatMap(([namespace, elements]) =>
      Object.entries(elements).map(([element, mapping]) => {
        const required = mapping.required || (namespace === MDL_NAMESPACE && mandatory.has(element));
        return { path: [namespace, element], ...claimOf({ ...mapping, required }) };
      }),
    );
    return {
      supported: {
        doctype: type,
        cryptographic_binding_methods_supported: ['cose_key'],
        // COSE identifier of ES256, OID4VCI Appendix A.2.2.
        credential_signing_alg_values_supported: [-7],
        proof_types_supported: proofTypesOf(content, this.proofAlgorithms),
        credential_metadata: { display, claims },
      },
      legacy: {
        doctype: type,
        cryptographic_binding_methods_supported: ['mso'],
        cryptographic_suites_supported: ['ES256'],
        display,
      },
    };
  }

  async check(
    _tenantId: string,
    { type: docType, content }: Pick<Mdoc, 'type' | 'content'>,
    from: UserObject,
  ): Promise<ClaimFault | undefined> {
    const known = mapNamespaces(content, (mappings) => mapKnownClaims(mappings, from));
    const fault = tooLarge(content, known);
    if (fault) return fault;
    for (const [namespace, values] of Object.entries(known))
      for (const [element, value] of Object.entries(values)) {
        const type = elementTypeOf(content.claimMappings[namespace]![element]!);
        const msg = elementFault(type, value) ?? standardValueFault(docType, namespace, element, { type, value });
        if (msg) return { claim: `${namespace} ${element}`, msg };
      }
    const times = mapTimes(content, from);
    return 'fault' in times ? times.fault : undefined;
  }

  timesFaultOf({ type, content }: Mdoc, from: UserObject, facts: OfferFacts): TimesRefusal | undefined {
    const longestDays = longestMdocLifetimeDays(type);
    const times = mapTimes(content, from);
    // Found by `check`.
    if ('fault' in times) return undefined;
    const mayFollow = (['validFrom', 'validUntil'] as const).some((name) => {
      const mapping = content[name];
      return mapping && !times[name] && (!facts.areComplete || isPending(mapping, from));
    });
    if (mayFollow) return undefined;
    const tooLong = times.validUntil ? undefined : lifetimeFault(content.expiresIn, longestDays);
    if (tooLong) return { of: 'configuration', msg: `expiresIn ${tooLong}` };
    try {
      credentialTimes({
        issuedAt: facts.now,
        ...times,
        validUntil: times.validUntil ?? addDuration(facts.now, content.expiresIn),
        longestDays,
        ...(facts.signerEnd && { signer: { notBefore: new Date(0), notAfter: facts.signerEnd } }),
      });
      return undefined;
    } catch (error) {
      if (!(error instanceof TimesFault)) throw error;
      const isMapped = Object.keys(times).length > 0;
      return {
        of: isMapped ? 'claims' : 'configuration',
        msg: isMapped ? error.message : `expiresIn: ${error.message}`,
      };
    }
  }

  mappingsOf({ claimMappings, validFrom, validUntil }: MdocContent): Pick<ElementMapping, 'mapFrom'>[] {
    const times = [validFrom, validUntil].filter((time) => time !== undefined);
    return [...Object.values(claimMappings).flatMap((elements) => Object.values(elements)), ...times];
  }

  mapClaims({ type, content }: Mdoc, from: UserObject): MdocClaims {
    const values = mapNamespaces(content, (mappings, namespace) => mapClaims(mappings, from, namespace));
    const fault = tooLarge(content, values);
    if (fault) throw deniedClaim(CHECK, fault);
    const mayFollow = Object.values(content.claimMappings).some((mappings) =>
      Object.values(mappings).some((mapping) => isPending(mapping, from)),
    );
    if (!mayFollow && Object.values(values).every((elements) => Object.keys(elements).length === 0))
      throw deniedClaim(CHECK, noElement(content));
    const namespaces = mapNamespaces(content, (mappings, namespace) =>
      Object.fromEntries(
        Object.entries(values[namespace]!).map(([element, value]) => [
          element,
          { value, type: elementTypeOf(mappings[element]!) },
        ]),
      ),
    );
    const missing = missingMdlElements(type, namespaces).find(
      (element) => !isPending(content.claimMappings[MDL_NAMESPACE]![element]!, from),
    );
    if (missing !== undefined)
      throw deniedClaim(CHECK, {
        claim: `${MDL_NAMESPACE} ${missing}`,
        msg: `has no value, but is mandatory for ${type}`,
      });
    const times = mapTimes(content, from);
    if ('fault' in times) throw deniedClaim(CHECK, times.fault);
    return { namespaces, times };
  }

  documentBytesOf(claims: Record<string, unknown>): number {
    let bytes = 0;
    for (const elements of Object.values((claims as MdocClaims).namespaces))
      for (const [element, { value, type }] of Object.entries(elements))
        bytes +=
          type === 'binary'
            ? (value as string).length + base64Bytes(element.length + ELEMENT_BYTES)
            : base64Bytes(jsonBytes([element, value]) + ELEMENT_BYTES);
    return bytes;
  }

  prepare(facts: CredentialFacts<MdocContent>): UnsignedMdoc {
    const { configuration, holder, time, credentialId } = facts;
    const { type: docType, content } = configuration;
    const signer = certifiedSigner(facts.signer);
    const { namespaces, times } = facts.claims as MdocClaims;
    const fault = newValueFault(configuration, namespaces);
    if (fault) throw deniedClaim(CHECK, fault);
    return deniedByFault(times, () => {
      const { signed, validFrom, validUntil } = credentialTimes({
        issuedAt: time,
        ...times,
        validUntil: times.validUntil ?? addDuration(time, content.expiresIn),
        signer: signer.certificate,
        longestDays: longestMdocLifetimeDays(docType),
      });
      const prepared = prepareMdoc({
        docType,
        namespaces,
        deviceKey: holder.publicJwk,
        validity: { signed, validFrom, validUntil: validUntil! },
        ...(facts.status && { status: statusOf(content, facts.status) }),
        documentSigner: this.documentSignerOf(signer),
        random: facts.random,
      });
      const digests = digestsOf(prepared);
      return { credentialId, holderKey: holder.publicJwk, validFrom, validUntil: validUntil!, digests, prepared };
    });
  }

  async sign(_tenantId: string, credentials: readonly UnsignedMdoc[], signer: Signer): Promise<string[]> {
    return credentials.map(({ prepared }) => prepared.assemble(signer.sign(prepared.toBeSigned)));
  }

  private documentSignerOf({ certificate }: CertifiedSigner): Uint8Array {
    const known = this.documentSigners.get(certificate.fingerprint);
    if (known) return known;
    const der = Buffer.from(certificate.x5c[0]!, 'base64');
    this.documentSigners.set(certificate.fingerprint, der);
    return der;
  }
}

const CHECK = 'formats/mso-mdoc';

/** Size of an element beside its name and value: digest, salt and numbers, in CBOR. */
const ELEMENT_BYTES = 160;
/** Limit of all `binary` elements, decoded: a portrait, beside the characters of the rest. */
const MAX_BINARY_BYTES = 192 * 1024;

const decodedBytes = (base64: string): number =>
  Math.floor(((base64.length - (base64.endsWith('==') ? 2 : Number(base64.endsWith('=')))) * 3) / 4);

const statusOf = ({ statusMechanism }: MdocContent, { uri, index }: StatusReference): UnsignedDocument['status'] =>
  statusMechanism === 'identifier_list' ? { id: listIdentifier(uri, index), uri } : { index, uri };

/** The element with which the claims exceed a limit; `binary` elements have one of their own. */
const tooLarge = (
  { claimMappings }: MdocContent,
  values: Record<string, Record<string, unknown>>,
): ClaimFault | undefined => {
  let bytes = 0;
  const rest: [readonly [string, string], unknown][] = [];
  // By namespace, as claimBeyondLimit adds them: both count the same.
  const all = Object.create(null) as Record<string, Record<string, unknown>>;
  for (const [namespace, elements] of Object.entries(values)) {
    all[namespace] = Object.create(null) as Record<string, unknown>;
    for (const [element, value] of Object.entries(elements)) {
      const isBinary = typeof value === 'string' && elementTypeOf(claimMappings[namespace]![element]!) === 'binary';
      if (isBinary) bytes += decodedBytes(value);
      if (bytes > MAX_BINARY_BYTES) return { claim: `${namespace} ${element}`, msg: BINARY_FAULT };
      const counted = isBinary ? '' : value;
      rest.push([[namespace, element], counted]);
      all[namespace][element] = counted;
    }
  }
  return claimsSizeFault(all) === undefined ? undefined : claimBeyondLimit(claimsSizeFault, rest);
};

/** The first value that the standard of its element does not allow. A default value was checked with its configuration (ADR 0099). */
const newValueFault = (
  { type: docType, content: { claimMappings } }: Pick<Mdoc, 'type' | 'content'>,
  namespaces: MdocClaims['namespaces'],
): ClaimFault | undefined => {
  for (const [namespace, elements] of Object.entries(namespaces))
    for (const [element, typed] of Object.entries(elements)) {
      if (typed.value === claimMappings[namespace]![element]!.defaultValue) continue;
      const msg = standardValueFault(docType, namespace, element, typed);
      if (msg) return { claim: `${namespace} ${element}`, msg };
    }
  return undefined;
};

const BINARY_FAULT = `must not make the claims of the credential exceed ${MAX_BINARY_BYTES} bytes in the binary elements in total`;

/** Named is the first element of the configuration. */
const noElement = ({ claimMappings }: MdocContent): ClaimFault => {
  const [[namespace, elements]] = Object.entries(claimMappings) as [[string, Record<string, ElementMapping>]];
  return {
    claim: `${namespace} ${Object.keys(elements)[0]}`,
    msg: 'has no value, and no other element has one: an mdoc has at least one element',
  };
};

const mapNamespaces = <T>(
  { claimMappings }: MdocContent,
  map: (mappings: Record<string, ElementMapping>, namespace: string) => T,
): Record<string, T> =>
  Object.fromEntries(
    Object.entries(claimMappings).map(([namespace, mappings]) => [namespace, map(mappings, namespace)]),
  );

/** @throws AppError credential_request_denied; no message contains a value of a claim */
const deniedByFault = <T>(times: MappedTimes, make: () => T): T => {
  try {
    return make();
  } catch (error) {
    if (error instanceof EncodingFault) throw deniedClaim(CHECK, faultOfEncoding(error));
    if (error instanceof TimesFault) {
      const [claim] = Object.keys(times).reverse();
      throw oauthError('credential_request_denied', error.message, {
        check: CHECK,
        ...(claim !== undefined && { claim }),
      });
    }
    throw error;
  }
};

const mapTimes = ({ validFrom, validUntil }: MdocContent, from: UserObject): MappedTimes | { fault: ClaimFault } => {
  if (!validFrom && !validUntil) return {};
  const mapped = mapKnownClaims({ ...(validFrom && { validFrom }), ...(validUntil && { validUntil }) }, from);
  const times: MappedTimes = {};
  for (const [name, value] of Object.entries(mapped)) {
    const time = parseDateTime(value) ?? (typeof value === 'string' ? parseDateTime(`${value}T00:00:00Z`) : undefined);
    if (!time)
      return {
        fault: {
          claim: name,
          msg: 'must have a date such as 2026-01-31, or a date and time with offset such as 2026-01-31T12:00:00Z',
        },
      };
    times[name as keyof MappedTimes] = time;
  }
  return times;
};

/** Stored form of the digests: salted, so that they show nothing of the values. */
const digestsOf = ({ digests, msoHash }: PreparedMdoc): CredentialDigests => ({
  namespaces: Object.fromEntries(
    [...digests].map(([namespace, elements]) => [
      namespace,
      Object.fromEntries(
        [...elements].map(([element, { digestID, digest }]) => [element, { digestID, digest: base64url(digest) }]),
      ),
    ]),
  ),
  msoHash: base64url(msoHash),
});

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
