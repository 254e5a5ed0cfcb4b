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

/** Wallets use a key for several proofs, and checking a curve point costs more than a cache entry. */
const known = new LRUCache<string, HolderKey>({ max: 2000 });

/** A DID URL of a did:key or did:jwk. @throws InvalidKey */
export const keyOfKid = (kid: unknown): HolderKey => {
  if (typeof kid !== 'string' || kid.length > 4200) throw new InvalidKey('kid must be a DID URL');
  const cached = known.get(kid);
  if (cached) return cached;
  const { did, publicJwk } = keyOfDidUrl(kid);
  const key = { did, ...importPublicJwk(publicJwk) };
  known.set(kid, key);
  return key;
};

/** @throws InvalidKey also for a private member */
export const keyOfJwk = (jwk: unknown): HolderKey => {
  const at = `jwk ${JSON.stringify(jwk)}`;
  const cached = known.get(at);
  if (cached) return cached;
  const imported = importPublicJwk(jwk);
  const key = { ...imported, did: encodeDidJwk(imported.publicJwk) };
  known.set(at, key);
  return key;
};
