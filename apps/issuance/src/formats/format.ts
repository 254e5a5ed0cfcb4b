import type { CredentialFormat, CredentialProfile } from '@attestry/contracts';
import type { PublicJwk, Signer } from '@attestry/keys';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';

/** Input of a format for one credential. */
export interface UnsignedCredential {
  /** uuid */
  credentialId: string;
  /** Subject. */
  holderDid: string;
  holderKey: PublicJwk;
  claims: Record<string, unknown>;
  /** Whole seconds. */
  validFrom: Date;
  validUntil?: Date;
  configuration: ActiveConfiguration;
  /** Of the configuration's pinned key. */
  signer: Signer;
}

/** A credential format and its part of the metadata (ADR 0060). A new one is a file beside this one and a line in formats.ts. */
export interface Format {
  readonly format: CredentialFormat;
  readonly profile: CredentialProfile;
  /**
   * Each a compact string, or a JSON object; all for one request, of one configuration, with the same claims.
   * @throws AppError credential_request_denied when the claims cannot be expressed; 503 when there is no capacity
   */
  encode(tenantId: string, credentials: readonly UnsignedCredential[]): Promise<(string | Record<string, unknown>)[]>;
  /** Type member of the issuer metadata, OID4VCI Appendix A. */
  typeMember(configuration: ActiveConfiguration): Record<string, unknown>;
  /** `credential_signing_alg_values_supported` */
  signingAlgorithms(configuration: ActiveConfiguration): string[];
  /** Claims path pointer (OID4VCI Appendix C) of a claim. */
  claimPath(name: string): string[];
}

export const typesOf = ({ type, content }: ActiveConfiguration): string[] => [
  'VerifiableCredential',
  type,
  ...content.additionalTypes,
];

/** Members that both versions of the data model share. */
export const describing = ({ content }: ActiveConfiguration): Record<string, unknown> => ({
  name: content.name,
  ...(content.description !== undefined && { description: content.description }),
  ...(content.credentialBranding && { credentialBranding: content.credentialBranding }),
});
