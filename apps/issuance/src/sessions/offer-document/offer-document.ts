import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { pooledBytes } from '@attestry/keys';
import type { TransactionCode } from '../issuance-session/issuance-session.events.js';

/** Grant types, RFC 6749 §4.1.3 and §6, OID4VCI §4.1.1. */
export const AUTHORIZATION_CODE_GRANT = 'authorization_code';
export const PRE_AUTHORIZED_GRANT = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';
export const REFRESH_TOKEN_GRANT = 'refresh_token';

/** OID4VCI §4.1.1 */
interface AnyOffer {
  credential_issuer: string;
  credential_configuration_ids: string[];
  /** For wallets of earlier drafts; not in the profile `haip`. */
  credentials?: string[];
}

/** The authorization code flow: the wallet sends the person to the authorization endpoint. */
export interface AuthorizationOffer extends AnyOffer {
  /** For the wallet's authorization request; wallets that do not know it ignore it (OID4VCI §4.1.1). */
  request_parameters?: Record<string, string>;
  /** `issuer_state` names a stored offer; the wallet returns it in the authorization request (OID4VCI §5.1.3). */
  grants: { authorization_code: { issuer_state?: string } };
}

export const authorizationOffer = (
  issuer: string,
  configurationIds: string[],
  requestParameters?: Record<string, string> | null,
  issuerState?: string,
): AuthorizationOffer => ({
  credential_issuer: issuer,
  credential_configuration_ids: configurationIds,
  credentials: configurationIds,
  ...(requestParameters && { request_parameters: requestParameters }),
  grants: { authorization_code: issuerState === undefined ? {} : { issuer_state: issuerState } },
});

export interface OfferDocument extends AnyOffer {
  grants: {
    [PRE_AUTHORIZED_GRANT]: {
      'pre-authorized_code': string;
      tx_code?: { length: number; input_mode: 'numeric' | 'text'; description?: string };
    };
  };
}

export const offerDocument = (
  issuer: string,
  configurationIds: string[],
  code: string,
  transactionCode?: Pick<TransactionCode, 'inputMode' | 'length' | 'description'>,
): OfferDocument => ({
  credential_issuer: issuer,
  credential_configuration_ids: configurationIds,
  credentials: configurationIds,
  grants: {
    [PRE_AUTHORIZED_GRANT]: {
      'pre-authorized_code': code,
      ...(transactionCode && {
        tx_code: {
          length: transactionCode.length,
          input_mode: transactionCode.inputMode,
          ...(transactionCode.description !== undefined && { description: transactionCode.description }),
        },
      }),
    },
  },
});

/** Document of OID4VCI 1.0 §4.1.1, for the profile `haip` (ADR 0095). */
export const withoutDraftMembers = <T extends OfferDocument | AuthorizationOffer>(document: T): T => {
  const { credentials: _, ...offer } = document;
  return offer as T;
};

const SCHEME = 'openid-credential-offer://';

/** OID4VCI §4.1.2 */
export const offerUri = (document: OfferDocument | AuthorizationOffer): string =>
  `${SCHEME}?credential_offer=${encodeURIComponent(JSON.stringify(document))}`;

/** OID4VCI §4.1.3. Below the tenant's host, whatever the issuer's name is: a custom domain forwards only public documents. */
export const offerReferenceUri = (baseUrl: string, reference: string): string =>
  `${SCHEME}?credential_offer_uri=${encodeURIComponent(`${baseUrl}/v1/openid/offers/${reference}/content`)}`;

/** Address of the QR code. */
export const offerQrUrl = (baseUrl: string, reference: string): string => `${baseUrl}/v1/openid/offers/${reference}/qr`;

/** Reference to an offer whose document is sealed in its session. */
export const offerReference = (offerId: string, secret: string): string => `${offerId}.${secret}`;

// The document holds the code, so it is kept only under a secret that nothing but the reference carries (ADR 0059).

const keyFor = (secret: string, offerId: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', Buffer.from(secret, 'base64url'), offerId, 'credential offer document', 32));

/** base64url of iv, ciphertext and tag. */
export const sealOfferDocument = (document: OfferDocument, secret: string, offerId: string): string => {
  const iv = pooledBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyFor(secret, offerId), iv);
  const sealed = Buffer.concat([
    iv,
    cipher.update(JSON.stringify(document), 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return sealed.toString('base64url');
};

/** `undefined` for a wrong secret. */
export const openOfferDocument = (sealed: string, secret: string, offerId: string): OfferDocument | undefined => {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', keyFor(secret, offerId), bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(-16));
  let text = decipher.update(bytes.subarray(12, -16), undefined, 'utf8');
  try {
    text += decipher.final('utf8');
  } catch {
    // Thrown for one reason only: the tag does not match, so the secret is wrong.
    return undefined;
  }
  return JSON.parse(text) as OfferDocument;
};
