import { createHash, createPublicKey, verify, X509Certificate, type KeyObject, type webcrypto } from 'node:crypto';
import type { JWK } from 'jose';
import { hostFetch } from './host-fetch.js';
import { fetchStatusListToken, verifyStatusListToken } from './verify-status.js';
import type { HolderKey } from './wallet.js';

export interface VerifiedSdJwt {
  header: { alg?: string; typ?: string; kid?: string; x5c?: string[] };
  /** With the disclosed claims. */
  payload: Record<string, unknown>;
  /** Type metadata, where `vct` is an address. */
  type?: Record<string, unknown>;
}

/**
 * Presents claims of a `dc+sd-jwt` with the wallet's key and verifies the presentation with @sd-jwt/sd-jwt-vc: signature, disclosures,
 * key binding and status. The certificate chain ends at the CA that the issuer publishes, and its key is one of the issuer's metadata.
 * @param claims names of the claims that the holder discloses; default all
 * @param host of the issuer, where its CA is published, if its identifier is a custom domain
 * @throws Error with what was found
 */
export const verifySdJwt = async (
  credential: string,
  holder: HolderKey,
  claims?: readonly string[],
  host?: string,
): Promise<VerifiedSdJwt> => {
  const { SDJwtVcInstance } = await import('@sd-jwt/sd-jwt-vc');
  const [header, signed] = credential.split('.', 2).map((part) => decoded(part)) as [
    VerifiedSdJwt['header'],
    Record<string, string>,
  ];
  const key = await issuerKey(signed['iss']!, header, host);
  const library = new SDJwtVcInstance({
    hasher: (data, algorithm) =>
      createHash(algorithm.replace('-', ''))
        .update(typeof data === 'string' ? data : Buffer.from(data))
        .digest(),
    hashAlg: 'sha-256',
    saltGenerator: () => 'unused',
    verifier: (data, signature) => isSigned(data, signature, key),
    statusListFetcher: fetchStatusListToken,
    statusVerifier: async (data, signature) => {
      const listKey = await issuerKey(signed['iss']!, decoded(data.split('.', 1)[0]!) as VerifiedSdJwt['header'], host);
      const { uri } = (signed['status'] as unknown as { status_list: { uri: string } }).status_list;
      await verifyStatusListToken(`${data}.${signature}`, uri, listKey);
      return true;
    },
    kbSigner: async (data) =>
      Buffer.from(
        await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, holder.privateKey, Buffer.from(data)),
      ).toString('base64url'),
    kbSignAlg: 'ES256',
    kbVerifier: (data, signature, payload) => {
      const { jwk } = (payload as unknown as { cnf: { jwk: JWK } }).cnf;
      return isSigned(data, signature, createPublicKey({ key: jwk as webcrypto.JsonWebKey, format: 'jwk' }));
    },
  });
  const all = (await library.getClaims(credential)) as Record<string, unknown>;
  const names = claims ?? Object.keys(all).filter((name) => !Object.hasOwn(signed, name));
  const frame = Object.fromEntries(names.map((name) => [name, frameOf(all[name])]));
  const nonce = 'nonce-of-verifier';
  const presentation = await library.present<Record<string, unknown>>(credential, frame, {
    kb: { payload: { aud: 'https://verifier.example', nonce, iat: Math.floor(Date.now() / 1000) } },
  });
  const { payload } = await library.verify(presentation, { keyBindingNonce: nonce });
  return { header, payload: payload as Record<string, unknown>, ...(await typeOf(payload as Record<string, unknown>)) };
};

/** Presentation frame of everything at all levels of a value. */
export const frameOf = (value: unknown): object | true => {
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return members.length ? Object.fromEntries(members.map(([name, member]) => [name, frameOf(member)])) : true;
};

/** The library compares `vct#integrity` with hex; SD-JWT VC has the digest in base64 (W3C Subresource Integrity). */
const typeOf = async (payload: Record<string, unknown>): Promise<Pick<VerifiedSdJwt, 'type'>> => {
  const { vct, 'vct#integrity': integrity } = payload as Record<string, string | undefined>;
  if (integrity === undefined) return {};
  const response = await hostFetch(vct!);
  const text = await response.text();
  if (integrity !== `sha256-${createHash('sha256').update(text).digest('base64')}`)
    throw new Error('the type metadata do not have the digest of vct#integrity');
  const { TypeMetadataFormatSchema } = await import('@sd-jwt/sd-jwt-vc');
  const type = TypeMetadataFormatSchema.parse(JSON.parse(text)) as Record<string, unknown>;
  if (type['vct'] !== vct) throw new Error('the type metadata are of another vct');
  return { type };
};

const issuerKey = async (iss: string, { x5c = [] }: VerifiedSdJwt['header'], host = iss): Promise<KeyObject> => {
  const [leaf, ...rest] = x5c.map((der) => new X509Certificate(Buffer.from(der, 'base64')));
  if (!leaf || rest.length) throw new Error('x5c must be the certificate of the signer alone');
  const ca = (await (await hostFetch(`${host}/v1/openid/issuer-ca`)).json()) as { certificates: string[] };
  const isTrusted = ca.certificates
    .map((pem) => new X509Certificate(pem))
    .some((anchor) => anchor.ca && leaf.checkIssued(anchor) && leaf.verify(anchor.publicKey));
  if (!isTrusted || leaf.verify(leaf.publicKey)) throw new Error('the signer is not issued by the CA');
  if (leaf.subjectAltName !== `URI:${iss}`) throw new Error(`the certificate is for ${leaf.subjectAltName}`);
  const metadata = (await (await hostFetch(`${iss}/.well-known/jwt-vc-issuer`)).json()) as {
    issuer: string;
    jwks: { keys: JWK[] };
  };
  // The header has no `kid`: who does without certificates tries each.
  const key = metadata.jwks.keys
    .map((jwk) => createPublicKey({ key: jwk as webcrypto.JsonWebKey, format: 'jwk' }))
    .find((one) => one.equals(leaf.publicKey));
  if (metadata.issuer !== iss || !key) throw new Error('the metadata of the issuer do not have the key');
  return key;
};

const isSigned = (data: string, signature: string, key: KeyObject): boolean =>
  verify('sha256', Buffer.from(data), { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));

const decoded = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
