/** MAC of a secret that the platform issued, with the id of its pepper (ADR 0058). */
export interface SecretMac {
  pepper: string;
  /** base64url HMAC-SHA256 */
  mac: string;
}

/** MACs under the platform's peppers, for secrets that are stored only as their MAC. */
export abstract class Macs {
  /** HMAC-SHA256 under the current pepper. `context` binds the MAC to its use (for example the offer id). */
  abstract mac(secret: string, context?: string): SecretMac;
  /** Constant time. False for an unknown pepper. */
  abstract verifyMac(secret: string, expected: SecretMac, context?: string): boolean;
}
