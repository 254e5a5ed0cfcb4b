import { webcrypto } from 'node:crypto';
import { makeHolderKey, type OperationParts } from '@attestry/testing';
import { BasicConstraintsExtension, cryptoProvider, X509CertificateGenerator } from '@peculiar/x509';
import type { Hostile } from './hostile-requests.js';

/** Most proofs, keys of an attestation and certificates of a chain (OID4VCI). */
const [PROOFS, KEYS, CHAIN] = [10, 10, 5];
const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const jws = (header: object, claims: object): string => `${encoded(header)}.${encoded(claims)}.AAAA`;

/** A chain of certificates, each issued by the next one; no one trusts the last. */
const makeChain = async (length: number): Promise<string[]> => {
  cryptoProvider.set(webcrypto as unknown as Crypto);
  const chain: string[] = [];
  const makeKeys = () => webcrypto.subtle.generateKey(ECDSA, true, ['sign', 'verify']);
  let issuer = (await makeKeys()) as webcrypto.CryptoKeyPair;
  for (let below = length - 1; below >= 0; below--) {
    const own = (await makeKeys()) as webcrypto.CryptoKeyPair;
    const { rawData } = await X509CertificateGenerator.create({
      ...{ subject: `CN=${below}`, issuer: `CN=${below + 1}`, publicKey: own.publicKey },
      ...{ signingKey: issuer.privateKey, signingAlgorithm: ECDSA },
      ...{ notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) },
      extensions: below > 0 ? [new BasicConstraintsExtension(true, undefined, true)] : [],
    });
    chain.unshift(Buffer.from(rawData).toString('base64'));
    issuer = own;
  }
  return chain;
};

/** DER of sequences within sequences. */
const nestedDer = (bytes: number): string => {
  let der = Buffer.alloc(0);
  while (der.length + 4 <= bytes)
    der = Buffer.concat([Buffer.from([0x30, 0x82, der.length >> 8, der.length & 255]), der]);
  return der.toString('base64');
};

/**
 * Credential requests whose key proofs have certificates, each within the limits and beyond them. Everything but signatures and trust is right,
 * so that as much as possible is done before the refusal.
 * @param requirement of the configuration: key attestations, or certificates of holders
 */
export const hostileProofs = async (requirement: 'keyAttestation' | 'proofRootCertificates'): Promise<Hostile[]> => {
  const holders = await Promise.all(Array.from({ length: KEYS }, () => makeHolderKey()));
  const keys = holders.map(({ publicJwk }) => publicJwk);
  const chain = await makeChain(CHAIN);
  const chains: [string, string[]][] = [
    [`${CHAIN} certificates`, chain],
    [`${CHAIN + 1} certificates`, [...chain, chain[0]!]],
    ...[5_000, 11_000, 15_000].map((length): [string, string[]] => [
      `${length} characters of short certificates`,
      Array<string>(Math.floor(length / 11)).fill('MIIBAA=='),
    ]),
    ...[2_000, 4_096, 8_192].map((bytes): [string, string[]] => [`${bytes} bytes of nested DER`, [nestedDer(bytes)]]),
  ];
  const seconds = Math.floor(Date.now() / 1000);
  const attestation = (x5c: unknown, attested_keys: unknown = keys) =>
    jws(
      { typ: 'key-attestation+jwt', alg: 'ES256', x5c },
      { iat: seconds, exp: seconds + 3600, nonce: 'x', attested_keys },
    );
  const proofs = (right: OperationParts, header: object, count = PROOFS) => {
    const [valid] = (right.body as { proofs: { jwt: string[] } }).proofs.jwt;
    const claims = valid!.split('.')[1];
    const jwt = `${encoded({ typ: 'openid4vci-proof+jwt', alg: 'ES256', ...header })}.${claims}.AAAA`;
    return { jwt: Array<string>(count).fill(jwt) };
  };
  const made = (name: string, proofsOf: (right: OperationParts) => object): Hostile => {
    const textOf = (right: OperationParts) => JSON.stringify({ ...(right.body as object), proofs: proofsOf(right) });
    return { name, size: 1, of: (right) => ({ body: { mediaType: 'application/json', text: textOf(right) } }) };
  };
  if (requirement === 'proofRootCertificates')
    return [
      ...chains.map(([name, x5c]) => made(`${name} in each proof`, (right) => proofs(right, { x5c }))),
      made('too many proofs', (right) => proofs(right, { x5c: chain }, PROOFS + 1)),
    ];
  const [jwk] = keys;
  return [
    ...chains.flatMap(([name, x5c]) => [
      made(`${name} in an attestation`, () => ({ attestation: [attestation(x5c)] })),
      made(`${name} in the attestation of each proof`, (right) =>
        proofs(right, { jwk, key_attestation: attestation(x5c) }),
      ),
    ]),
    ...[KEYS + 1, 1_000, 4_000].map((count) =>
      made(`an attestation of ${count} keys`, () => ({ attestation: [attestation(chain, Array(count).fill({}))] })),
    ),
    made('too many proofs', (right) => proofs(right, { jwk, key_attestation: attestation(chain) }, PROOFS + 1)),
    made('too many attestations', () => ({ attestation: Array(PROOFS + 1).fill(attestation(chain)) })),
  ];
};
