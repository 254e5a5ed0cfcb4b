import { isDeepStrictEqual } from 'node:util';
import { base58 } from '@scure/base';
import { encodeMultikey, type PublicJwk } from '@attestry/keys';

type Document = Record<string, unknown>;
interface Method extends Document {
  id: string;
  type: string;
  controller: string;
}

const MULTIKEY_V1 = 'https://w3id.org/security/multikey/v1';
const SUFFIX = '-mk';

/** Id of the method that has the key of another method as `Multikey`. */
export const multikeyIdOf = (methodId: string): string => `${methodId}${SUFFIX}`;

const methodsOf = (document: Document): Method[] => (document['verificationMethod'] ?? []) as Method[];
const isMultikey = ({ id, type }: Method): boolean => type === 'Multikey' && id.endsWith(SUFFIX);

/**
 * The document with each key of Ed25519 and P-256 a second time as `Multikey`, for verifiers of `eddsa-rdfc-2022` and `ecdsa-rdfc-2019` that know no
 * other (VC-DI-EDDSA §2.1.1, VC-DI-ECDSA §2.1.1). It only asserts. The document itself where it has them.
 */
export const withMultikeys = (document: Document): Document => {
  const methods = methodsOf(document);
  const known = new Set(methods.map(({ id }) => id));
  const added = methods.flatMap((method) => {
    const id = multikeyIdOf(method.id);
    const jwk = known.has(id) ? undefined : publicJwkOf(method);
    const { controller } = method;
    return jwk ? [{ id, type: 'Multikey', controller, publicKeyMultibase: encodeMultikey(jwk) }] : [];
  });
  if (added.length === 0) return document;
  return {
    ...document,
    '@context': [...(document['@context'] as string[]), MULTIKEY_V1],
    verificationMethod: [...methods, ...added],
    assertionMethod: [...(document['assertionMethod'] as string[]), ...added.map(({ id }) => id)],
  };
};

const publicJwkOf = ({ type, publicKeyJwk, publicKeyBase58 }: Method): PublicJwk | undefined => {
  if (type === 'JsonWebKey2020') return publicKeyJwk as PublicJwk;
  if (type !== 'Ed25519VerificationKey2018') return undefined;
  return {
    kty: 'OKP',
    crv: 'Ed25519',
    x: Buffer.from(base58.decode(publicKeyBase58 as string)).toString('base64url'),
  };
};

/** Document in its former form; also of a document from another host. */
export const withoutMultikeys = (document: Document): Document => {
  const { '@context': contexts, verificationMethod: methods, assertionMethod: asserting } = document;
  if (!Array.isArray(contexts) || !Array.isArray(methods) || !Array.isArray(asserting)) return document;
  const removed = new Set((methods as (Method | null)[]).filter((method) => isWritten(method) && isMultikey(method)));
  const ids = new Set([...removed].map((method) => method!.id));
  return {
    ...document,
    '@context': contexts.filter((one) => one !== MULTIKEY_V1),
    verificationMethod: methods.filter((method) => !removed.has(method as Method)),
    assertionMethod: asserting.filter((one) => !ids.has(one as string)),
  };
};

const isWritten = (method: Method | null): method is Method => typeof method?.id === 'string';

export const hasMultikeys = (document: Document): boolean => methodsOf(document).some(isMultikey);

/** Whether a published document has each `Multikey` of ours, unchanged, and asserts with it. */
export const publishesMultikeys = (published: Document, document: Document): boolean => {
  const { verificationMethod: methods, assertionMethod: asserting } = published;
  if (!Array.isArray(methods) || !Array.isArray(asserting)) return false;
  const ours = methodsOf(document).filter(isMultikey);
  return (
    ours.length > 0 &&
    ours.every((one) => asserting.includes(one.id) && methods.some((method) => isDeepStrictEqual(method, one)))
  );
};
