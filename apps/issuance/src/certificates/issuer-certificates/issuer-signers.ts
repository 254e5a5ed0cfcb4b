import { X509Certificate } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Streams, type Clock, type EventContext, type Fence } from '@attestry/event-store';
import { pooledBytes, SigningKeys, type PublicJwk, type Signer } from '@attestry/keys';
import { CLOCK } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import { CertificateKeys, type MakeKeys } from '../certificate-keys/certificate-keys.js';
import { issuerHost } from '../../settings/credential-configuration/configurations-under.js';
import { withdrawnDomains, withdrawnDomainsStream } from '../../settings/withdrawn-domains/withdrawn-domains.state.js';
import {
  addSigner,
  caPeriod,
  destroyReplacedKeys,
  endsTooSoon,
  isSignerDue,
  signerPeriod,
  signingCa,
  validSigner,
  type CertificatePeriod,
} from './issuer-certificates.decisions.js';
import type { IssuerCertificatesEvent, StoredCertificate, StoredSigner } from './issuer-certificates.events.js';
import {
  issuerCertificates,
  issuerCertificatesStream,
  type IssuerCertificatesState,
} from './issuer-certificates.state.js';

/** Certificate that a credential shows of the key that signs it. */
export interface SignerCertificate {
  /** base64 DER, the signer's own first, without the trust anchor. */
  x5c: readonly string[];
  /** SHA-256 of the signer's DER, hex. */
  fingerprint: string;
  notBefore: Date;
  notAfter: Date;
  /** Id of the IACA that certified a signer of mobile documents or of their status lists. */
  iacaId?: string;
  /** Alternative names of that IACA and of the signer, sorted; absent without any. */
  domains?: readonly string[];
}

export type CertifiedSigner = Signer & { certificate: SignerCertificate };
/** A key of a DID has no certificate. */
export type IssuingSigner = Signer & { certificate?: SignerCertificate };

/** How long a process may sign with a signer that another process has replaced; its certificate remains valid. */
const MAX_AGE_MS = 60_000;

/**
 * The CA of a tenant and the signers of its credential issuer identifiers: the tenant's address, and each custom domain that it issued
 * under. Keys are in the vault before the event that names them.
 */
@Injectable()
export class IssuerSigners {
  private readonly known = new LRUCache<string, { signer: StoredSigner; at: number }>({ max: 5000 });

  constructor(
    private readonly streams: Streams,
    private readonly keys: CertificateKeys,
    private readonly signingKeys: SigningKeys,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Makes the CA and the signer of an issuer unless the tenant has them. */
  async ensure(tenantId: string, issuer: string, context: EventContext): Promise<void> {
    const { state } = await this.load(tenantId);
    if (!validSigner(state, issuer, this.clock.now())) await this.renew(tenantId, issuer, context);
  }

  /**
   * The signer of an issuer, made when there is none, because the tenant's address changed, or when credentials may outlive the one that there
   * is.
   */
  async loadSigner(tenantId: string, issuer: string, context: EventContext): Promise<CertifiedSigner> {
    const known = await this.findSigner(tenantId, issuer);
    if (known && !endsTooSoon(known.certificate, this.clock.now())) return known;
    await this.renew(tenantId, issuer, context);
    this.known.delete(`${tenantId} ${issuer}`);
    const made = await this.findSigner(tenantId, issuer);
    if (!made) throw new Error(`no signer of ${issuer}`);
    return made;
  }

  /** The signer of an issuer; undefined before it is made. */
  async findSigner(tenantId: string, issuer: string): Promise<CertifiedSigner | undefined> {
    const stored = await this.storedSigner(tenantId, issuer);
    if (!stored) return undefined;
    const key = await this.signingKeys.loadSigner(tenantId, stored.keyId);
    const certificate: SignerCertificate = {
      x5c: [stored.certificate],
      fingerprint: stored.fingerprint,
      notBefore: new Date(stored.notBefore),
      notAfter: new Date(stored.notAfter),
    };
    return { ...key, certificate };
  }

  private async storedSigner(tenantId: string, issuer: string): Promise<StoredSigner | undefined> {
    const at = `${tenantId} ${issuer}`;
    const now = this.clock.now();
    const recent = this.known.get(at);
    if (recent && Math.abs(now.getTime() - recent.at) < MAX_AGE_MS && now < new Date(recent.signer.notAfter))
      return recent.signer;
    const signer = validSigner((await this.load(tenantId)).state, issuer, now);
    if (signer) this.known.set(at, { signer, at: now.getTime() });
    return signer;
  }

  /** Public keys of an issuer's signers whose certificates are valid, newest first. */
  async publicKeys(tenantId: string, issuer: string): Promise<PublicJwk[]> {
    const now = this.clock.now();
    const { signers } = (await this.load(tenantId)).state;
    return signers
      .filter((signer) => signer.issuer === issuer && now < new Date(signer.notAfter))
      .map(({ certificate }) => parse(certificate).publicKey.export({ format: 'jwk' }) as unknown as PublicJwk)
      .reverse();
  }

  /** Certificates of the tenant's CA that are valid, PEM, newest first. */
  async trustAnchors(tenantId: string): Promise<string[]> {
    const now = this.clock.now();
    const { authorities } = (await this.load(tenantId)).state;
    return authorities
      .filter(({ notAfter }) => now < new Date(notAfter))
      .map(({ certificate }) => parse(certificate).toString())
      .reverse();
  }

  /**
   * Makes another signer of an issuer when one is due, and another CA when that is due too.
   * @param fence of the lease under which it is renewed
   * @throws StaleEpoch when that was lost; KeyNotFound when the tenant was deleted
   */
  async renew(tenantId: string, issuer: string, context: EventContext, fence?: Fence): Promise<void> {
    await this.keys.runDecision(
      {
        aggregate: issuerCertificates,
        stream: issuerCertificatesStream(tenantId),
        decide: ({ state: before }, makeKeys) => this.makeSigner(before, { tenantId, issuer, makeKeys }),
        keysOf: ({ authorities, signers }) => [...authorities, ...signers].map(({ keyId }) => keyId),
      },
      context,
      { fence },
    );
  }

  /** Whether an issuer lies under a domain that the tenant has lost. */
  async isWithdrawn(tenantId: string, issuer: string): Promise<boolean> {
    const { state } = await this.streams.load(withdrawnDomains, withdrawnDomainsStream(tenantId));
    return state.domains.includes(issuerHost(issuer)!);
  }

  /**
   * Destroys the private keys of signers that were replaced a day ago or longer. First in the vault: after a failure the next run destroys them
   * again, which is no error, and appends.
   * @throws StaleEpoch when the lease was lost
   */
  async destroyReplacedKeys(tenantId: string, context: EventContext, fence: Fence): Promise<void> {
    await this.streams.runDecision(
      issuerCertificates,
      issuerCertificatesStream(tenantId),
      async (state) => {
        const destroyed = destroyReplacedKeys(state, this.clock.now());
        const keyIds = destroyed.map(({ data }) => data.keyId);
        if (keyIds.length) await this.signingKeys.destroySigningKeys(tenantId, keyIds);
        return destroyed;
      },
      context,
      { fence },
    );
  }

  private async makeSigner(
    state: IssuerCertificatesState,
    target: { tenantId: string; issuer: string; makeKeys: MakeKeys },
  ): Promise<IssuerCertificatesEvent[]> {
    const { tenantId, issuer, makeKeys } = target;
    const now = this.clock.now();
    if (!isSignerDue(state, issuer, now)) return [];
    // Loaded on first use: it takes a tenth of a second.
    const { createIssuerAuthority, createIssuerSigner } = await import('@attestry/certificates');
    const known = signingCa(state, now);
    const [signerKey, caKey] = await makeKeys(known ? 1 : 2);
    let ca = known;
    let authorityKey = caKey;
    if (ca) authorityKey = await this.signingKeys.loadSigner(tenantId, ca.keyId);
    else {
      const period = caPeriod(now);
      const commonName = `${new URL(issuer).host} CA`;
      const made = await createIssuerAuthority({ key: caKey!, commonName, ...period, random: pooledBytes });
      ca = storedOf(caKey!.keyId, made, period);
    }
    const period = signerPeriod(now);
    const made = await createIssuerSigner({
      authority: Buffer.from(ca.certificate, 'base64'),
      authorityKey: authorityKey!,
      publicKey: signerKey!.publicKey,
      issuerUrl: issuer,
      ...period,
      random: pooledBytes,
    });
    const signer = { ...storedOf(signerKey!.keyId, made, period), issuer };
    return addSigner(state, { ...(!known && { ca }), signer, now });
  }

  private load(tenantId: string) {
    return this.streams.load(issuerCertificates, issuerCertificatesStream(tenantId));
  }
}

const parse = (certificate: string): X509Certificate => new X509Certificate(Buffer.from(certificate, 'base64'));

const storedOf = (
  keyId: string,
  { der, fingerprint }: { der: Uint8Array; fingerprint: string },
  { notBefore, notAfter, dueAt }: CertificatePeriod,
): StoredCertificate => ({
  keyId,
  certificate: Buffer.from(der).toString('base64'),
  fingerprint,
  notBefore: notBefore.toISOString(),
  notAfter: notAfter.toISOString(),
  dueAt: dueAt.toISOString(),
});
