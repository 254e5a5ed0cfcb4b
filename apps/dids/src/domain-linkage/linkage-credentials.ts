import { setImmediate } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { DomainLinkageCredential } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { KeyNotFound, SigningKeys } from '@attestry/keys';
import { Canonicalization, proofOptions, proofOptionsDocument, signProof } from '@attestry/linked-data';
import { CLOCK } from '@attestry/service-kit';
import { domainLinkage, periodOf, type DomainLinkage, type LinkedDid } from './domain-linkage.js';

/** Signed credentials kept in memory, about 1 KiB each. */
const MAX_CACHED = 10_000;

type Signed = Promise<DomainLinkageCredential | undefined>;

/**
 * Domain linkage credentials, signed once and cached. Nothing is stored: Ed25519 signatures are deterministic, so another process, or this
 * one after a restart, produces the same; with a P-256 key it produces another signature, which is as valid.
 */
@Injectable()
export class LinkageCredentials {
  private readonly cached = new LRUCache<string, Signed>({ max: MAX_CACHED });

  constructor(
    private readonly signingKeys: SigningKeys,
    private readonly canonicalization: Canonicalization,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** For each DID and origin, in this order; DIDs without such a key, or whose key has just been destroyed, are left out. */
  async entries(
    tenantId: string,
    dids: readonly LinkedDid[],
    origins: readonly string[],
  ): Promise<DomainLinkageCredential[]> {
    const period = periodOf(this.clock.now());
    const entries: DomainLinkageCredential[] = [];
    for (const did of dids)
      for (const origin of origins) {
        const linkage = domainLinkage(did, origin, period);
        const entry = linkage && (await this.signed(tenantId, linkage));
        if (entry) entries.push(entry);
      }
    return entries;
  }

  private signed(tenantId: string, linkage: DomainLinkage): Signed {
    const { origin } = linkage.credential.credentialSubject;
    const at = [tenantId, linkage.kmsKeyId, linkage.created, origin].join(' ');
    const known = this.cached.get(at);
    if (known) return known;
    const made = this.sign(tenantId, linkage);
    this.cached.set(at, made);
    made.then(
      (entry) => entry ?? this.cached.delete(at),
      () => this.cached.delete(at),
    );
    return made;
  }

  private async sign(tenantId: string, linkage: DomainLinkage): Signed {
    const { credential, created, verificationMethod, kmsKeyId, suite } = linkage;
    try {
      const signer = await this.signingKeys.loadSigner(tenantId, kmsKeyId);
      const proof = proofOptions(suite, created, verificationMethod);
      const documents = [proofOptionsDocument(credential, proof), credential];
      const [options, document] = await this.canonicalization.hashes(tenantId, documents);
      const signed = signProof(credential, proof, [options!, document!], (data) => signer.sign(data));
      // Canonicalization takes milliseconds of this thread; other work runs between two.
      await setImmediate();
      // `LinkageSuite` has no other suites than the declaration.
      return signed as DomainLinkageCredential;
    } catch (error) {
      if (error instanceof KeyNotFound) return undefined;
      throw error;
    }
  }
}
