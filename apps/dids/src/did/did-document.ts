import { base58 } from '@scure/base';
import { encodeDidKey, encodeMultikey, x25519PublicOf, type PublicJwk } from '@attestry/keys';
import type { DidKey, KeyAlgorithm, KeyPurpose } from './did.events.js';
import { withMultikeys } from './multikeys.js';

/** A key of the vault: its id and public half. */
export interface VaultKey {
  keyId: string;
  algorithm: KeyAlgorithm;
  publicJwk: PublicJwk;
}

export interface NewDid {
  did: string;
  keys: DidKey[];
  document: Record<string, unknown>;
}

const DID_V1 = 'https://www.w3.org/ns/did/v1';
/** Contexts that define the verification method types, by type. */
const SUITES = {
  X25519KeyAgreementKey2019: 'https://w3id.org/security/suites/x25519-2019/v1',
  JsonWebKey2020: 'https://w3id.org/security/suites/jws-2020/v1',
  Ed25519VerificationKey2018: 'https://w3id.org/security/suites/ed25519-2018/v1',
  Bls12381G2Key2020: 'https://w3id.org/security/bbs/v1',
} as const;
type MethodType = keyof typeof SUITES;

const TYPE_OF: Readonly<Record<KeyAlgorithm, MethodType>> = {
  'P-256': 'JsonWebKey2020',
  Ed25519: 'Ed25519VerificationKey2018',
  X25519: 'X25519KeyAgreementKey2019',
  Bls12381G2: 'Bls12381G2Key2020',
};

const SIGNING: KeyPurpose[] = ['authentication', 'assertionMethod', 'capabilityDelegation', 'capabilityInvocation'];
/** For the P-256 and the BLS12-381 key beside an Ed25519 key: they sign credentials, only the Ed25519 key authenticates. */
const ISSUING = SIGNING.filter((purpose) => purpose !== 'authentication');

interface Method extends VaultKey {
  /** Fragment of the verification method. */
  fragment: string;
  purposes: KeyPurpose[];
}

/** A document as the specification notes describe it: signing keys listed and referenced, the agreement key embedded. */
const newDocument = (did: string, methods: readonly Method[]): NewDid => {
  const entries = methods.map((method) => {
    const type = TYPE_OF[method.algorithm];
    const { kty, crv, x, y } = method.publicJwk;
    const id = `${did}#${method.fragment}`;
    const key =
      type === 'JsonWebKey2020'
        ? { publicKeyJwk: { kty, crv, x, y } }
        : { publicKeyBase58: base58.encode(Buffer.from(x, 'base64url')) };
    return { ...method, id, entry: { id, controller: did, type, ...key } };
  });
  const isAgreement = ({ purposes }: Method) => purposes.includes('keyAgreement');
  const types = new Set(entries.map(({ entry }) => entry.type));
  const referring = (purpose: KeyPurpose) =>
    entries.filter(({ purposes }) => purposes.includes(purpose)).map(({ id }) => id);
  const agreements = entries.filter(isAgreement).map(({ entry }) => entry);
  return {
    did,
    keys: entries.map(({ id, keyId, algorithm, purposes }) => ({
      didDocumentKeyId: id,
      kmsKeyId: keyId,
      algorithm,
      purposes: [...purposes],
    })),
    document: {
      '@context': [DID_V1, ...(Object.keys(SUITES) as MethodType[]).filter((t) => types.has(t)).map((t) => SUITES[t])],
      id: did,
      verificationMethod: entries.filter((method) => !isAgreement(method)).map(({ entry }) => entry),
      ...Object.fromEntries(SIGNING.map((purpose) => [purpose, referring(purpose)])),
      ...(agreements.length > 0 && { keyAgreement: agreements }),
    },
  };
};

/** did:key Method v0.7 §3: fragments are multikeys; an Ed25519 key also has an X25519 counterpart, without a separate vault key. */
export const didKeyOf = (key: VaultKey): NewDid => {
  // The platform never creates a key of X25519 alone, but a resolved third-party DID may have one.
  const purposes: KeyPurpose[] = key.algorithm === 'X25519' ? ['keyAgreement'] : SIGNING;
  const method: Method = { ...key, fragment: encodeMultikey(key.publicJwk), purposes };
  if (key.algorithm !== 'Ed25519') return newDocument(encodeDidKey(key.publicJwk), [method]);
  const publicJwk = x25519PublicOf(key.publicJwk);
  return newDocument(encodeDidKey(key.publicJwk), [
    method,
    {
      keyId: key.keyId,
      algorithm: 'X25519',
      publicJwk,
      fragment: encodeMultikey(publicJwk),
      purposes: ['keyAgreement'],
    },
  ]);
};

const SHORT_ID = 10;

/**
 * A key id within the document: 10 characters of the base58 public key (of x for P-256), the first that no other key
 * of the document has.
 */
export const shortKeyId = (base58Key: string, taken: ReadonlySet<string>): string => {
  for (let from = 0; from + SHORT_ID <= base58Key.length; from++) {
    const id = base58Key.slice(from, from + SHORT_ID);
    if (!taken.has(id)) return id;
  }
  throw new Error('the document already has a key with this name');
};

const WEB_PURPOSES: Readonly<Record<KeyAlgorithm, KeyPurpose[]>> = {
  'P-256': ISSUING,
  Ed25519: SIGNING,
  X25519: ['keyAgreement'],
  Bls12381G2: ISSUING,
};

/** Algorithms of the keys of every did:web (specification notes, Creating DIDs). */
export const DID_WEB_ALGORITHMS = [
  'P-256',
  'Ed25519',
  'Bls12381G2',
  'X25519',
] as const satisfies readonly KeyAlgorithm[];

export const didWebDocument = (did: string, keys: readonly VaultKey[]): NewDid => {
  const taken = new Set<string>();
  const methods = keys.map((key): Method => {
    const fragment = shortKeyId(base58.encode(Buffer.from(key.publicJwk.x, 'base64url')), taken);
    taken.add(fragment);
    return { ...key, fragment, purposes: WEB_PURPOSES[key.algorithm] };
  });
  const made = newDocument(did, methods);
  return { ...made, document: withMultikeys(made.document) };
};
