import { Inject } from '@nestjs/common';
import { createIaca, retrieveBrand, type ContextOf, type Iaca, type IacaRequest } from '@attestry/contracts';
import { Streams, type Clock, type Decided, type Ids } from '@attestry/event-store';
import { pooledBytes } from '@attestry/keys';
import {
  CLOCK,
  eventContext,
  idFor,
  IDS,
  Operation,
  PlatformConfig,
  ServiceClient,
  type RequestOf,
} from '@attestry/service-kit';
import { CertificateKeys } from '../certificate-keys/certificate-keys.js';
import { refuseCertificateFaults } from '../certificate-keys/refuse-certificate-faults.js';
import { Crls } from '../document-signers/crls.js';
import { iacaView } from '../mobile-certificates/certificate-views.js';
import {
  checkRoomForIaca,
  checkUnmanaged,
  createIaca as decide,
  iacaContent,
  requireIaca,
} from '../mobile-certificates/iaca.decisions.js';
import type { MobileCertificatesEvent, StoredIaca } from '../mobile-certificates/mobile-certificates.events.js';
import {
  mobileCertificates,
  mobileCertificatesStream,
  type MobileCertificatesState,
} from '../mobile-certificates/mobile-certificates.state.js';
import { storedX509 } from '../mobile-certificates/stored-x509.js';
import { regionOf } from './region-of.js';

type Context = ContextOf<typeof createIaca>;
type Created = Decided<MobileCertificatesState, MobileCertificatesEvent>;

@Operation(createIaca)
export class CreateIaca {
  constructor(
    private readonly streams: Streams,
    private readonly keys: CertificateKeys,
    private readonly crls: Crls,
    private readonly client: ServiceClient,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute({ body }: RequestOf<typeof createIaca>, context: Context): Promise<Iaca> {
    const iacaId = idFor(context, 'iaca', this.ids);
    const isManaged = body.certificatePem === undefined;
    const { state } = await (isManaged ? this.make(iacaId, body, context) : this.register(iacaId, body, context));
    return iacaView(requireIaca(state, iacaId), this.clock.now());
  }

  /** With its first CRL, because its certificate says where that is. */
  private async make(iacaId: string, body: IacaRequest, context: Context): Promise<Created> {
    const { tenant } = context;
    const domain = await this.domainOf(context);
    const content = iacaContent(
      body,
      { domain, region: regionOf(tenant.host, this.config.environments) },
      this.clock.now(),
    );
    const { createIaca: createCertificate } = await import('@attestry/certificates');
    return this.keys.runDecision(
      {
        aggregate: mobileCertificates,
        stream: mobileCertificatesStream(tenant.id),
        decide: async ({ state, revision }, makeKeys) => {
          checkRoomForIaca(state);
          const [key] = await makeKeys(1);
          const { notBefore, notAfter, ...subject } = content;
          const made = await createCertificate({
            key: key!,
            subject,
            notBefore,
            notAfter,
            issuerUrl: `${this.config.publicScheme}://${domain}`,
            crlUrl: `${tenant.baseUrl}/v2/credentials/mobile/iacas/${iacaId}/crl`,
            random: pooledBytes,
          });
          const iaca: StoredIaca = { iacaId, keyId: key!.keyId, ...storedX509(made) };
          return decide(state, { iaca, crl: await this.crls.sign(tenant.id, iaca, revision + 2) });
        },
        keysOf: ({ iacas }) => iacas.flatMap(({ keyId }) => keyId ?? []),
      },
      eventContext(context),
      { once: true },
    );
  }

  private async register(iacaId: string, body: IacaRequest, context: Context): Promise<Created> {
    checkUnmanaged(body);
    const { parseIaca } = await import('@attestry/certificates');
    const parsed = await refuseCertificateFaults('certificatePem', () =>
      parseIaca(body.certificatePem!, this.clock.now()),
    );
    return this.streams.runDecision(
      mobileCertificates,
      mobileCertificatesStream(context.tenant.id),
      (state) => decide(state, { iaca: { iacaId, ...storedX509(parsed) } }),
      eventContext(context),
      { once: true },
    );
  }

  /** The verified custom domain, or else the host of the tenant. */
  private async domainOf(context: Context): Promise<string> {
    const { domain } = await this.client.call(retrieveBrand, {}, context);
    return domain ?? context.tenant.host;
  }
}
