import {
  invalid,
  type ClaimMapping,
  type ClientContext,
  type ConfigurationRecord,
  type ConfigurationRequest,
  type CredentialFormat,
  type CredentialProfile,
  type ErrorDetail,
  type ReserveIssuerKeyRequest,
} from '@attestry/contracts';
import type { ByteSource, PublicJwk, Signer } from '@attestry/keys';
import type {
  ActiveConfiguration,
  PinnedConfiguration,
} from '../settings/credential-configuration/credential-configuration.decisions.js';
import type {
  ConfigurationContent,
  PinnedIssuerKey,
} from '../settings/credential-configuration/credential-configuration.events.js';
import type { CredentialDigests } from '../sessions/issuance-session/issuance-session.events.js';
import type { CertifiedSigner, IssuingSigner } from '../certificates/issuer-certificates/issuer-signers.js';
import type { ClaimFault } from './claim-faults.decisions.js';
import type { ProofAlgorithm } from './proof-types.js';
import type { UserObject } from './map-claims.js';
import type { StatusPolicy } from '../status-lists/status-list/list-series.js';
import type { StatusReference } from '../status-lists/status-list/token-status-list.js';

/** Key that signs. */
export type SignerPolicy =
  | {
      /** A key of a DID, pinned when the configuration is created (ADR 0060). */
      kind: 'pinnedKey';
      /** Best first. */
      algorithms: PinnedIssuerKey['algorithm'][];
      /** Method of the DID that is chosen where the request names none. Absent: any. */
      method?: 'web';
      /** The member of requests that names the DID. Absent: `issuerDid`. */
      member?: 'issuer';
    }
  | {
      /** The key of a certificate for the credential issuer identifier, under the tenant's CA (ADR 0060). */
      kind: 'issuerSigner';
    }
  | {
      /** The key of a document signer for the type of the credential, under the tenant's active IACA. */
      kind: 'documentSigner';
    };

/** Resources that a format needs before it can prepare and sign a credential. */
export interface Resources {
  readonly signer: SignerPolicy;
  /** Absent where credentials cannot be revoked; a function where it depends on the configuration. */
  readonly status?: StatusPolicy | ((content: ConfigurationContent) => StatusPolicy);
  /** Present where a revoked credential can be restored, until it is deleted; otherwise `invalid` is final. */
  readonly revocation?: 'reversible';
}

/** DID and key that a credential is issued to. */
export interface Holder {
  did: string;
  publicJwk: PublicJwk;
}

/** Facts that a credential is made from. Time and random values are arguments, so that the same facts make the same credential. */
export interface CredentialFacts<Content extends ConfigurationContent = ConfigurationContent> {
  configuration: ActiveConfiguration<Content>;
  /** Mapped by the format. */
  claims: Record<string, unknown>;
  holder: Holder;
  /** Credential issuer identifier of the session. */
  issuer: string;
  /** Has a certificate unless the signer policy is `pinnedKey`. */
  signer: IssuingSigner;
  time: Date;
  /** Random uuid. */
  credentialId: string;
  random: ByteSource;
  /** Where the status is published; absent unless the configuration is revocable. */
  status?: StatusReference;
}

/** Facts for a format with the signer policy `pinnedKey`. */
export type PinnedFacts<Content extends ConfigurationContent> = CredentialFacts<Content> & {
  configuration: PinnedConfiguration<Content>;
};

/** Members that are signed; a format adds its own. */
export interface UnsignedCredential {
  /** uuid */
  credentialId: string;
  holderKey: PublicJwk;
  validFrom: Date;
  validUntil?: Date;
  /** Stored of it and listed, where the format signs digests. */
  digests?: CredentialDigests;
}

/** Facts that decide whether a credential could be signed if it were requested when it is offered. */
export interface OfferFacts {
  now: Date;
  /** Nothing is added to the claims before the credential is issued, except by a claims source. */
  areComplete: boolean;
  /** End of the certificate that would sign, where that is known. */
  signerEnd?: Date | undefined;
}

/** Validity that no credential could have. */
export interface TimesRefusal {
  /** Part that states it. */
  of: 'configuration' | 'claims';
  msg: string;
}

/** Members of the issuer metadata for one configuration, beside `format`, `id` and `scope`. */
export interface FormatMetadata {
  /** In `credential_configurations_supported`, OID4VCI 1.0 §12.2.4 and Appendix A. */
  supported: Record<string, unknown>;
  /** In `credentials_supported` of earlier drafts. */
  legacy: Record<string, unknown>;
}

/**
 * Everything that differs between credential formats (ADR 0060). `Content` is what is stored of a configuration, `Unsigned` the signing
 * input.
 */
export interface Format<
  Content extends ConfigurationContent = ConfigurationContent,
  Unsigned extends UnsignedCredential = UnsignedCredential,
> {
  readonly format: CredentialFormat;
  readonly profile: CredentialProfile;
  /** A tenant with the profile `haip` has a configuration of such a format (HAIP 1.0 §4). Absent: no. */
  readonly isOfHaip?: boolean;
  /** Whether OID4VCI 1.0 Appendix A does not have it, so that wallets skip its configurations whatever they contain. Absent: no. */
  readonly isOwnFormat?: boolean;
  readonly resources: Resources;
  /** Algorithms of proofs whose keys its credentials can be bound to. */
  readonly proofAlgorithms: readonly ProofAlgorithm[];
  /** The format with which it shares types: a type is unique among the configurations of both. Absent: none. */
  readonly sharesTypesWith?: CredentialFormat;

  /** Where the key depends on the request; of the same kind as that of `resources`. */
  signerOf?(request: ConfigurationRequest): SignerPolicy;
  /** Every fault of a request that needs no look-up; the shape is already checked. */
  faultsOf(request: ConfigurationRequest): ErrorDetail[];
  /**
   * Stored content of a request. `replaced` is the content that an update replaces.
   * @throws AppError 400 for what only a look-up can find
   */
  contentOf(request: ConfigurationRequest, replaced: Content | undefined, context: ClientContext): Promise<Content>;
  /** Record that the API shows. */
  recordOf(configuration: ActiveConfiguration<Content>): ConfigurationRecord;
  metadataOf(configuration: ActiveConfiguration<Content>): FormatMetadata;
  /**
   * The first claim that a credential cannot express, of claims from these sources, which need not be all. It finds everything in claims for
   * which {@link mapClaims}, {@link prepare} or {@link sign} would deny the credential, except a required claim without a value.
   * @throws AppError 503 when there is no capacity
   */
  check(
    tenantId: string,
    configuration: Pick<ActiveConfiguration<Content>, 'type' | 'content'>,
    from: UserObject,
  ): Promise<ClaimFault | undefined>;

  /** Where a certificate signs: whether the credential would outlive it, or have another validity that is denied. */
  timesFaultOf?(
    configuration: ActiveConfiguration<Content>,
    from: UserObject,
    facts: OfferFacts,
  ): TimesRefusal | undefined;

  /** Mappings that select values from the claims. Default: the entries of `claimMappings`. */
  mappingsOf?(content: Content): Pick<ClaimMapping, 'mapFrom'>[];

  /** @throws AppError credential_request_denied when a required claim has no value */
  mapClaims(configuration: ActiveConfiguration<Content>, from: UserObject): Record<string, unknown>;
  /** Bytes that claims, as mapped, have in a credential. Absent: those of their JSON in base64url. */
  documentBytesOf?(claims: Record<string, unknown>): number;
  /**
   * Pure.
   * @throws AppError when these facts can make no credential
   */
  prepare(facts: CredentialFacts<Content>): Unsigned;
  /**
   * Each a compact string, or a JSON object; all for one request, of one configuration, with the same claims.
   * @throws AppError credential_request_denied when the claims cannot be expressed; 503 when there is no capacity
   */
  sign(
    tenantId: string,
    credentials: readonly Unsigned[],
    signer: Signer,
  ): Promise<(string | Record<string, unknown>)[]>;
}

/** The DID that a request names, and the member that names it. */
export const requestedDid = (
  { resources: { signer } }: Pick<Format, 'resources'>,
  request: ConfigurationRequest,
): Pick<ReserveIssuerKeyRequest, 'did' | 'member'> => {
  const member = (signer.kind === 'pinnedKey' && signer.member) || 'issuerDid';
  return { member, did: (request as { issuer?: string; issuerDid?: string })[member] };
};

/** @throws Error for a key of a DID */
export const certifiedSigner = (signer: IssuingSigner): CertifiedSigner => {
  const { certificate } = signer;
  if (!certificate) throw new Error(`key ${signer.keyId} has no certificate`);
  return { ...signer, certificate };
};

/** @throws AppError 400 with a detail per fault */
export const checkRequest = (format: Pick<Format, 'faultsOf'>, request: ConfigurationRequest): void => {
  const details = format.faultsOf(request);
  if (details.length) throw invalid(...details);
};
