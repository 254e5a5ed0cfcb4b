/** A wallet that the tenant's issuer registered. */
export interface RegisteredWallet {
  /** uuid */
  id: string;
  name: string;
  /** Unique among the tenant's wallets. */
  clientId: string;
  /** Absent only with `rootCertificates`: then any https address may be pushed (RFC 9126 §2.4). */
  redirectUris?: string[];
  /** Trust anchors of client attestations, PEM; the wallet must attest itself if it has any. */
  rootCertificates?: string[];
  /** Access tokens are bound to a DPoP key; with `rootCertificates`, the DPoP proof is the proof of possession of the attested key. */
  dpopRequired: boolean;
  disabled: boolean;
}

export type WalletsEvent =
  | { type: 'WalletRegistered'; data: RegisteredWallet }
  /** All members, in place of the earlier ones. */
  | { type: 'WalletUpdated'; data: RegisteredWallet }
  | { type: 'WalletDeleted'; data: { id: string } };
