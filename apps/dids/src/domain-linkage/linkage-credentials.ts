import { setImmediate } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { DomainLinkageCredential } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { BbsProofNotMade, KeyNotFound, SigningKeys } from '@attestry/keys';
import {
  BBS_2023,
  Canonicalization,
  proofOptions,
  proofOptionsDocument,
  signBbs2023,
  signProof,
} from '@attestry/linked-data';
import { CLOCK, LOGGER, type Logger } from '@attestry/service-kit';
import { domainLinkage, periodOf, type DomainLinkage, type LinkedDid } from './domain-linkage.js';

/** Signed credentials kept in memory, 1 to 2 KiB each. */
const MAX_CACHED = 10_000;
/** This long after its first BBS proof began, a request starts no other; each takes about 50 ms, and a later request continues. */
const BBS_MS = 3000;
/** After this many that were not made neither: the thread is overloaded. */
const BBS_FAILURES = 10;

type Signed = Promise<DomainLinkageCredential | undefined>;

/**
 * Domain linkage credentials, signed once and cached. Nothing is stored: Ed25519 signatures are deterministic, so another process, or this
 * one after a restart, produces the same; with a P-256 or BLS12-381 key it produces another proof, which is as valid.
 */
@Injectable()
export class LinkageCredentials {
  private readonly cached = new LRUCache<string, Signed>({ max: MAX_CACHED });

  constructor(
    private readonly signingKeys: SigningKeys,
    private readonly canonicalization: Canonicalization,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * For each DID and origin, in this order. Left out are DIDs without a key that asserts, DIDs whose key has just been destroyed, and those
   * whose BBS proof is not made yet.
   */
  async entries(
    tenantId: string,
    dids: readonly LinkedDid[],
    origins: readonly string[],
  ): Promise<DomainLinkageCredential[]> {
    const period = periodOf(this.clock.now());
    const entries: DomainLinkageCredential[] = [];
    let bbsUntil: number | undefined;
    let failures = 0;
    for (const did of dids)
      for (const origin of origins) {
        const linkage = domainLinkage(did, origin, period);
        if (!linkage) continue;
        const isBbs = linkage.suite === BBS_2023;
        if (isBbs) bbsUntil ??= performance.now() + BBS_MS;
        const mayStart = !isBbs || (performance.now() < bbsUntil! && failures < BBS_FAILURES);
        const entry = await this.signed(tenantId, linkage, mayStart);
        if (entry) entries.push(entry);
        else if (mayStart) failures++;
      }
    return entries;
  }

  /** From the cache or, if `mayStart`, signed now. */
  private async signed(tenantId: string, linkage: DomainLinkage, mayStart: boolean): Signed {
    const { origin } = linkage.credential.credentialSubject;
    const at = [tenantId, linkage.kmsKeyId, linkage.created, origin].join(' ');
    const known = this.cached.get(at);
    if (known || !mayStart) return known;
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
      if (suite === BBS_2023)
        return await signBbs2023(
          credential,
          { created, verificationMethod },
          (document) => this.canonicalization.canonicalForm(document),
          (header) => this.signingKeys.proveBbs(tenantId, kmsKeyId, header),
        );
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
      if (error instanceof BbsProofNotMade)
        this.logger.warn(
          { tenantId, keyId: kmsKeyId, error: String(error.cause) },
          'domain linkage credential not signed',
        );
      else if (!(error instanceof KeyNotFound)) throw error;
      return undefined;
    }
  }
}
