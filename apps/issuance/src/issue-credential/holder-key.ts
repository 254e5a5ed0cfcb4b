import type { KeyObject } from 'node:crypto';
import { encodeDidJwk, importPublicJwk, InvalidKey, keyOfDidUrl, type PublicJwk } from '@attestry/keys';
import { LRUCache } from 'lru-cache';

/** The key a proof is made with. */
export interface HolderKey {
  publicJwk: PublicJwk;
  publicKey: KeyObject;
  /** Subject of the credential: the DID of `kid`, for a `jwk` the did:jwk of that key (ADR 0060). */
  did: string;
}

const known = new LRUCache<string, HolderKey>({ max: 2000 });

/** Wallets use a key for several proofs, and checking a curve point costs more than a cache entry. */
const remembered = (at: string, make: () => HolderKey): HolderKey => {
  let key = known.get(at);
  if (!key) known.set(at, (key = make()));
  return key;
};

/** A DID URL of a did:key or did:jwk. @throws InvalidKey */
export const keyOfKid = (kid: unknown): HolderKey => {
  if (typeof kid !== 'string' || kid.length > 4200) throw new InvalidKey('kid must be a DID URL');
  return remembered(kid, () => {
    const { did, publicJwk } = keyOfDidUrl(kid);
    return { did, ...importPublicJwk(publicJwk) };
  });
};

/** @throws InvalidKey also for a private member */
export const keyOfJwk = (jwk: unknown): HolderKey =>
  remembered(`jwk ${JSON.stringify(jwk)}`, () => {
    const imported = importPublicJwk(jwk);
    return { ...imported, did: encodeDidJwk(imported.publicJwk) };
  });
