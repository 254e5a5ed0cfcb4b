import { hash } from 'node:crypto';
import { encodeCbor, encodeCborItem, encodedCborItem, tdate, type CborValue } from './cbor.js';
import { ClaimFault } from './claim-fault.js';
import { coseKey, type EcPublicJwk } from './cose-key.js';
import { assembleSign1, encodeSigStructure, ES256, HEADER } from './cose-sign1.js';
import { convertElement, type ElementType } from './element-types.js';
import { isText } from './json-claims.js';
import { MDL_NAMESPACE, typePrivilegeDates } from './mdl.js';
import type { SigningInput } from './signing-input.js';
import {
  identifierListReference,
  statusListReference,
  type IdentifierListEntry,
  type StatusListEntry,
} from './status-reference.js';

export interface MdocElement {
  /** JSON */
  value: unknown;
  type: ElementType;
}

export interface UnsignedMdoc {
  docType: string;
  /** Element by identifier, by namespace. A namespace without elements is left out. */
  namespaces: Readonly<Record<string, Readonly<Record<string, MdocElement>>>>;
  /** Key of the wallet, from the proof. */
  deviceKey: EcPublicJwk;
  /** Rounded already. */
  validity: { signed: Date; validFrom: Date; validUntil: Date };
  status?: StatusListEntry | IdentifierListEntry;
  /** DER of the certificate whose key signs. */
  documentSigner: Uint8Array;
  /** Random bytes. */
  random: (length: number) => Uint8Array;
}

/** Digest of an element, as the mobile security object has it. */
export interface ElementDigest {
  digestID: number;
  /** SHA-256 */
  digest: Uint8Array;
}

export interface PreparedMdoc extends SigningInput {
  /** By namespace and element identifier. */
  readonly digests: ReadonlyMap<string, ReadonlyMap<string, ElementDigest>>;
  /** SHA-256 of the payload of `issuerAuth`: the mobile security object in tag 24. */
  readonly msoHash: Uint8Array;
}

const PROTECTED_HEADER = encodeCbor(new Map([[HEADER.alg, ES256]]));
const SALT_BYTES = 32;

/**
 * An `IssuerSigned` of ISO/IEC 18013-5 §8.3.2.1.2.2 with its mobile security object (§9.1.2.4); assembled it is unpadded base64url
 * (OID4VCI 1.0 Appendix A.2.4).
 * @throws ClaimFault for a value that its type cannot express, and when there is no element; KeyNotSupported for the device key
 */
export const prepareMdoc = (mdoc: UnsignedMdoc): PreparedMdoc => {
  const nameSpaces = new Map<string, CborValue>();
  const valueDigests = new Map<string, CborValue>();
  const byElement = new Map<string, Map<string, ElementDigest>>();
  for (const [namespace, elements] of Object.entries(mdoc.namespaces)) {
    if (!isText(namespace)) throw new ClaimFault(['namespaces'], 'must be well-formed text', namespace);
    const named = Object.entries(elements);
    if (named.length === 0) continue;
    const digestIds = randomOrder(named.length, mdoc.random);
    const digests = new Map<number, CborValue>();
    const ofElements = new Map<string, ElementDigest>();
    const items = named.map(([element, { value, type }], position) => {
      const digestID = digestIds[position]!;
      const item = encodeCbor({
        digestID,
        random: mdoc.random(SALT_BYTES),
        elementIdentifier: element,
        elementValue: elementValue(namespace, element, type, value),
      });
      const digest = hash('sha256', encodeCborItem(item), 'buffer');
      digests.set(digestID, digest);
      ofElements.set(element, { digestID, digest });
      return encodedCborItem(item);
    });
    nameSpaces.set(namespace, items);
    valueDigests.set(namespace, digests);
    byElement.set(namespace, ofElements);
  }
  if (nameSpaces.size === 0) throw new ClaimFault(['namespaces'], 'must have at least one element with a value');
  const payload = encodeCborItem(encodeCbor(mobileSecurityObject(mdoc, valueDigests)));
  return {
    digests: byElement,
    msoHash: hash('sha256', payload, 'buffer'),
    toBeSigned: encodeSigStructure(PROTECTED_HEADER, payload),
    assemble: (signature) => {
      const unprotected = new Map([[HEADER.x5chain, mdoc.documentSigner]]);
      const issuerAuth = assembleSign1(PROTECTED_HEADER, unprotected, payload, signature);
      return Buffer.from(encodeCbor({ nameSpaces, issuerAuth })).toString('base64url');
    },
  };
};

const mobileSecurityObject = (
  { docType, deviceKey, validity, status }: UnsignedMdoc,
  valueDigests: ReadonlyMap<string, CborValue>,
): CborValue => ({
  version: '1.0',
  digestAlgorithm: 'SHA-256',
  valueDigests,
  deviceKeyInfo: { deviceKey: coseKey(deviceKey) },
  docType,
  validityInfo: {
    signed: tdate(validity.signed),
    validFrom: tdate(validity.validFrom),
    validUntil: tdate(validity.validUntil),
  },
  ...(status && { status: 'id' in status ? identifierListReference(status) : statusListReference(status) }),
});

const elementValue = (namespace: string, element: string, type: ElementType, value: unknown): CborValue => {
  const claim = [namespace, element];
  if (!isText(element)) throw new ClaimFault([namespace], 'must have element identifiers of well-formed text', element);
  const converted = convertElement(claim, type, value);
  return namespace === MDL_NAMESPACE && element === 'driving_privileges'
    ? typePrivilegeDates(value, converted)
    : converted;
};

/** 0 to count − 1 in random order, so that digest ids do not reveal which elements a document has. */
const randomOrder = (count: number, random: (length: number) => Uint8Array): number[] => {
  const order = Array.from({ length: count }, (_, index) => index);
  const bytes = Buffer.from(random(4 * count));
  for (let last = count - 1; last > 0; last--) {
    const picked = bytes.readUInt32BE(4 * last) % (last + 1);
    [order[last], order[picked]] = [order[picked]!, order[last]!];
  }
  return order;
};
