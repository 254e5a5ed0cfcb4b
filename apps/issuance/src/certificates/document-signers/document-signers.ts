import { Inject, Injectable } from '@nestjs/common';
import { AppError } from '@attestry/contracts';
import { isMdlDocType } from '@attestry/cose';
import { Streams, withoutRecord, type Clock, type EventContext, type Fence, type Ids } from '@attestry/event-store';
import { pooledBytes, SigningKeys } from '@attestry/keys';
import { CLOCK, IDS } from '@attestry/service-kit';
import { CertificateKeys, type MakeKeys } from '../certificate-keys/certificate-keys.js';
import type { CertifiedSigner } from '../issuer-certificates/issuer-signers.js';
import { destroyEndedKeys, keysDestroyedBy } from '../mobile-certificates/destroyed-keys.decisions.js';
import {
  beginOfSigner,
  findListSigner,
  findSigner,
  isSignerDue,
  signerDueAt,
  type SignerTarget,
} from '../mobile-certificates/find-signer.decisions.js';
import { requireIaca } from '../mobile-certificates/iaca.decisions.js';
import type {
  Documents,
  MobileCertificatesEvent,
  StoredX509,
} from '../mobile-certificates/mobile-certificates.events.js';
import {
  mobileCertificates,
  mobileCertificatesStream,
  type MobileCertificatesState,
} from '../mobile-certificates/mobile-certificates.state.js';
import { derOf, storedX509 } from '../mobile-certificates/stored-x509.js';

/** Names that a tenant can have as a domain: the host of an email address may be any text. */
const DOMAIN = /^[a-z0-9.-]{1,253}$/;

/**
 * The keys that sign mobile documents. Those of managed IACAs are made when they are first needed, and renewed. The stream is read for each
 * request, so that a signer that was revoked signs nothing more in any process.
 */
@Injectable()
export class DocumentSigners {
  constructor(
    private readonly streams: Streams,
    private readonly keys: CertificateKeys,
    private readonly signingKeys: SigningKeys,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  /**
   * @param document `hasStatus`: its IACA must have a signer of status lists too, or be managed
   * @throws AppError credential_request_denied when no active IACA can sign
   */
  async loadSigner(
    tenantId: string,
    { docType, hasStatus }: { docType: string; hasStatus: boolean },
    context: EventContext,
  ): Promise<CertifiedSigner> {
    const documents = documentsOf(docType);
    const find = (state: MobileCertificatesState) => findSigner(state, documents, this.clock.now(), { hasStatus });
    const { state } = await this.streams.load(mobileCertificates, mobileCertificatesStream(tenantId));
    const found = find(state);
    const target = { iacaId: found.iaca.iacaId, documents } as const;
    const signer = found.signer ?? find(await this.renew(tenantId, target, withoutRecord(context))).signer;
    if (!signer) throw new Error(`no document signer of ${target.iacaId}`);
    return this.certified(tenantId, signer, found.iaca);
  }

  /** Until when the certificate that would sign such a document now is valid; undefined while none can sign. */
  async endOfSigner(
    tenantId: string,
    { docType, hasStatus }: { docType: string; hasStatus: boolean },
  ): Promise<Date | undefined> {
    const documents = documentsOf(docType);
    const now = this.clock.now();
    const { state } = await this.streams.load(mobileCertificates, mobileCertificatesStream(tenantId));
    try {
      const { iaca, signer } = findSigner(state, documents, now, { hasStatus });
      if (signer) return new Date(signer.data.notAfter);
      const { documentSignerPeriod } = await import('@attestry/certificates');
      return documentSignerPeriod(documents, beginOfSigner(iaca, now), validityOf(iaca)).notAfter;
    } catch (error) {
      if (error instanceof AppError && error.code === 'credential_request_denied') return undefined;
      throw error;
    }
  }

  /**
   * The signer of the status lists of an IACA; undefined where its owner has uploaded none that is active and valid.
   * @throws IacaEnded when there will be no other
   */
  async loadListSigner(tenantId: string, iacaId: string, context: EventContext): Promise<CertifiedSigner | undefined> {
    const find = (state: MobileCertificatesState) => findListSigner(state, iacaId, this.clock.now());
    const { state } = await this.streams.load(mobileCertificates, mobileCertificatesStream(tenantId));
    const { hasEnded, iaca, signer } = find(state);
    if (hasEnded) throw new IacaEnded(iacaId);
    const target = { iacaId, documents: 'statusList' } as const;
    const usable =
      signer ?? (iaca!.keyId === undefined ? undefined : find(await this.renew(tenantId, target, context)).signer);
    return usable && this.certified(tenantId, usable, iaca!);
  }

  private async certified(
    tenantId: string,
    { keyId, iacaId, certificate, fingerprint, data, hosts = [] }: StoredX509 & { keyId: string; iacaId: string },
    iaca: Pick<StoredX509, 'hosts'>,
  ): Promise<CertifiedSigner> {
    const key = await this.signingKeys.loadSigner(tenantId, keyId);
    const domains = [...new Set([...(iaca.hosts ?? []), ...hosts])].filter((host) => DOMAIN.test(host)).sort();
    const [notBefore, notAfter] = [new Date(data.notBefore), new Date(data.notAfter)];
    return {
      ...key,
      certificate: {
        x5c: [certificate],
        fingerprint,
        notBefore,
        notAfter,
        iacaId,
        ...(domains.length && { domains }),
      },
    };
  }

  /**
   * Makes another signer of a managed IACA when one is due.
   * @param fence of the lease under which it is renewed
   * @throws StaleEpoch when that was lost; KeyNotFound when the tenant was deleted
   */
  async renew(
    tenantId: string,
    target: SignerTarget,
    context: EventContext,
    fence?: Fence,
  ): Promise<MobileCertificatesState> {
    const { state } = await this.keys.runDecision(
      {
        aggregate: mobileCertificates,
        stream: mobileCertificatesStream(tenantId),
        decide: ({ state: before }, makeKeys) => this.issueSigner(before, { ...target, tenantId, makeKeys }),
        keysOf: ({ signers }) => signers.map(({ keyId }) => keyId),
      },
      context,
      { fence },
    );
    return state;
  }

  /**
   * Destroys the private keys of signers that sign no more, and of IACAs that have ended. First in the vault: after a failure the next run
   * destroys them again, which is no error, and appends.
   * @throws StaleEpoch when the lease was lost
   */
  async destroyEndedKeys(tenantId: string, context: EventContext, fence: Fence): Promise<void> {
    await this.streams.runDecision(
      mobileCertificates,
      mobileCertificatesStream(tenantId),
      async (state) => {
        const destroyed = destroyEndedKeys(state, this.clock.now());
        await this.signingKeys.destroySigningKeys(tenantId, keysDestroyedBy(destroyed));
        return destroyed;
      },
      context,
      { fence },
    );
  }

  private async issueSigner(
    state: MobileCertificatesState,
    target: SignerTarget & { tenantId: string; makeKeys: MakeKeys },
  ): Promise<MobileCertificatesEvent[]> {
    const { tenantId, iacaId, documents, makeKeys } = target;
    const now = this.clock.now();
    if (!isSignerDue(state, target, now)) return [];
    // Loaded on first use: it takes a tenth of a second.
    const { createDocumentSigner, documentSignerPeriod } = await import('@attestry/certificates');
    const iaca = requireIaca(state, iacaId);
    const [key] = await makeKeys(1);
    const period = documentSignerPeriod(documents, beginOfSigner(iaca, now), validityOf(iaca));
    const made = await createDocumentSigner({
      iaca: derOf(iaca),
      iacaKey: await this.signingKeys.loadSigner(tenantId, iaca.keyId!),
      publicKey: key!.publicKey,
      signed: documents,
      commonName: signerName(iaca.data.commonName, documents),
      notBefore: period.notBefore,
      notAfter: period.notAfter,
      random: pooledBytes,
    });
    const dueAt = signerDueAt(period, iaca);
    return [
      {
        type: 'DocumentSignerIssued',
        data: {
          documentSignerId: this.ids.uuid(),
          iacaId,
          documents,
          keyId: key!.keyId,
          ...storedX509(made),
          signsUntil: period.signsUntil.toISOString(),
          ...(dueAt && { dueAt: dueAt.toISOString() }),
        },
      },
    ];
  }
}

const documentsOf = (docType: string): 'mDL' | 'other' => (isMdlDocType(docType) ? 'mDL' : 'other');

const validityOf = ({ data }: StoredX509): { notBefore: Date; notAfter: Date } => ({
  notBefore: new Date(data.notBefore),
  notAfter: new Date(data.notAfter),
});

/** Common name of a signer: that of its IACA with another ending, at most 64 characters. */
export const signerName = (iacaName: string, signed?: Documents): string =>
  `${iacaName.replace(/ IACA$/, '').slice(0, 61)} ${signed === 'statusList' ? 'SL' : 'DS'}`;

/** The IACA was deleted, or is no longer valid. */
export class IacaEnded extends Error {
  override readonly name = 'IacaEnded';
}
