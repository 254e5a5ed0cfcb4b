import { Inject, Injectable } from '@nestjs/common';
import { isMdlDocType } from '@attestry/cose';
import { Streams, withoutRecord, type Clock, type EventContext, type Fence, type Ids } from '@attestry/event-store';
import { pooledBytes, SigningKeys } from '@attestry/keys';
import { CLOCK, IDS } from '@attestry/service-kit';
import { CertificateKeys, type MakeKeys } from '../certificate-keys/certificate-keys.js';
import type { CertifiedSigner } from '../issuer-certificates/issuer-signers.js';
import {
  beginOfSigner,
  destroyEndedKeys,
  findSigner,
  isSignerDue,
  keysDestroyedBy,
  requireIaca,
  signerDueAt,
  type SignerTarget,
} from '../mobile-certificates/mobile-certificates.decisions.js';
import type { MobileCertificatesEvent } from '../mobile-certificates/mobile-certificates.events.js';
import {
  mobileCertificates,
  mobileCertificatesStream,
  type MobileCertificatesState,
} from '../mobile-certificates/mobile-certificates.state.js';
import { derOf, storedX509 } from '../mobile-certificates/stored-x509.js';

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

  /** @throws AppError credential_request_denied when no active IACA can sign */
  async loadSigner(tenantId: string, docType: string, context: EventContext): Promise<CertifiedSigner> {
    const documents = isMdlDocType(docType) ? 'mDL' : 'other';
    const { state } = await this.streams.load(mobileCertificates, mobileCertificatesStream(tenantId));
    const found = findSigner(state, documents, this.clock.now());
    const target = { iacaId: found.iaca.iacaId, documents } as const;
    const signer =
      found.signer ??
      findSigner(await this.renew(tenantId, target, withoutRecord(context)), documents, this.clock.now()).signer;
    if (!signer) throw new Error(`no document signer of ${target.iacaId}`);
    const key = await this.signingKeys.loadSigner(tenantId, signer.keyId);
    const { certificate, fingerprint, data } = signer;
    return {
      ...key,
      certificate: {
        x5c: [certificate],
        fingerprint,
        notBefore: new Date(data.notBefore),
        notAfter: new Date(data.notAfter),
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
    const period = documentSignerPeriod(documents, beginOfSigner(iaca, now), {
      notBefore: new Date(iaca.data.notBefore),
      notAfter: new Date(iaca.data.notAfter),
    });
    const made = await createDocumentSigner({
      iaca: derOf(iaca),
      iacaKey: await this.signingKeys.loadSigner(tenantId, iaca.keyId!),
      publicKey: key!.publicKey,
      commonName: signerName(iaca.data.commonName),
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

/** Common name of a signer: that of its IACA with another ending, at most 64 characters. */
export const signerName = (iacaName: string): string => `${iacaName.replace(/ IACA$/, '').slice(0, 61)} DS`;
