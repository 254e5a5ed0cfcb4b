import { createCipheriv, createDecipheriv } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { isUuid, MAX_OFFER_REFERENCE } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { CLOCK } from '@attestry/service-kit';
import { isExpired } from '../../sessions/issuance-session/issuance-session.decisions.js';
import { issuanceSession, issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import { CurrentConfigurations } from '../../settings/credential-configuration/current-configurations.js';
import {
  authorizationOffer,
  openOfferDocument,
  type AuthorizationOffer,
  type OfferDocument,
} from '../../sessions/offer-document/offer-document.js';
import { AuthorizationOffers } from './authorization-offers.js';

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Members that differ between offers: issuer, configurations, request parameters, `issuer_state`. */
type Content = [
  issuer: string,
  configurationIds: string[],
  requestParameters: Record<string, string> | null,
  issuerState: string | null,
];

/** Only the issued spelling: base64url has more than one for 32 bytes. */
const isExactSecret = (secret: string): boolean =>
  /^[A-Za-z0-9_-]{43}$/.test(secret) && Buffer.from(secret, 'base64url').toString('base64url') === secret;

/**
 * Offers that an address gives access to. That of a pre-authorized offer names the session and has the secret of its document (ADR 0059). That
 * of an offer of the authorization code flow is the encrypted offer itself: nothing is stored of a plain one (ADR 0086), and neither the
 * request parameters, which may name a person, nor `issuer_state` are readable in the address.
 */
@Injectable()
export class OfferReferences {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly offers: AuthorizationOffers,
    private readonly configurations: CurrentConfigurations,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** The same for the same offer, also when a call is repeated. `undefined` for an offer that is too long for an address. */
  seal(tenantId: string, document: AuthorizationOffer): string | undefined {
    const { credential_issuer: issuer, credential_configuration_ids: ids, request_parameters: parameters } = document;
    const { issuer_state: issuerState } = document.grants.authorization_code;
    const content: Content = [issuer, ids, parameters ?? null, issuerState ?? null];
    const text = JSON.stringify(content);
    // The IV is derived from the content, so that no two contents share one (RFC 5297 §1.3.1).
    const iv = this.derived(text, `offer-reference-iv:${tenantId}`).subarray(0, IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.keyOf(tenantId), iv);
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    const reference = `${iv.toString('base64url')}.${sealed.toString('base64url')}`;
    return reference.length <= MAX_OFFER_REFERENCE ? reference : undefined;
  }

  /** `undefined` for an unknown reference, and once the offer has ended. */
  async open(tenantId: string, reference: string): Promise<OfferDocument | AuthorizationOffer | undefined> {
    const [first, second, ...rest] = reference.split('.');
    if (!first || !second || rest.length) return undefined;
    return isUuid(first) ? this.openPreAuthorized(tenantId, first, second) : this.openSealed(tenantId, first, second);
  }

  /** The reference gives access to the code, so it ends with it. */
  private async openPreAuthorized(
    tenantId: string,
    offerId: string,
    secret: string,
  ): Promise<OfferDocument | undefined> {
    if (!isExactSecret(secret)) return undefined;
    const { state } = await this.streams.load(issuanceSession, issuanceSessionStream(tenantId, offerId));
    if (state.status !== 'offered' || isExpired(state.code, this.clock.now())) return undefined;
    return openOfferDocument(state.origin.sealedDocument, secret, offerId);
  }

  private async openSealed(tenantId: string, iv: string, sealed: string): Promise<AuthorizationOffer | undefined> {
    const content = this.contentOf(tenantId, Buffer.from(iv, 'base64url'), Buffer.from(sealed, 'base64url'));
    if (!content) return undefined;
    const [issuer, ids, parameters, issuerState] = content;
    const found = await Promise.all(ids.map((id) => this.configurations.find(tenantId, id)));
    if (!found.every((configuration) => configuration)) return undefined;
    if (issuerState !== null && !(await this.offers.findByState(tenantId, issuerState))) return undefined;
    return authorizationOffer(issuer, ids, parameters, issuerState ?? undefined);
  }

  private contentOf(tenantId: string, iv: Buffer, sealed: Buffer): Content | undefined {
    if (iv.length !== IV_BYTES || sealed.length <= TAG_BYTES) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', this.keyOf(tenantId), iv);
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    let text = decipher.update(sealed.subarray(0, -TAG_BYTES), undefined, 'utf8');
    try {
      text += decipher.final('utf8');
    } catch {
      // Thrown for one reason only: the tag does not match, so this tenant did not seal it.
      return undefined;
    }
    return JSON.parse(text) as Content;
  }

  private keyOf(tenantId: string): Buffer {
    return this.derived('', `offer-reference-key:${tenantId}`);
  }

  /** 32 bytes, from the platform's pepper. */
  private derived(text: string, context: string): Buffer {
    return Buffer.from(this.macs.mac(text, context).mac, 'base64url');
  }
}
