import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import {
  oauthError,
  type AppError,
  type ClientContext,
  type ErrorDetail,
  type WebSemanticConfiguration,
  type WebSemanticConfigurationRequest,
} from '@attestry/contracts';
import { PROOF_ALGORITHMS } from '../proof-types.js';
import type { Signer } from '@attestry/keys';
import {
  Canonicalization,
  CanonicalizationTooLong,
  DocumentFault,
  hasNestedArray,
  mayHaveSet,
  proofOptions,
  proofOptionsDocument,
  signProof,
  type UnsignedProof,
} from '@attestry/linked-data';
import { eventContext, PlatformConfig } from '@attestry/service-kit';
import { ContextLoader } from '../../vocabularies/contexts/context-loader.js';
import type { PinnedConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { jsonBytes } from '../document-size.decisions.js';
import { ProofMethods } from '../../settings/proof-methods/proof-methods.js';
import { mapClaims, mapKnownClaims, type UserObject } from '../map-claims.js';
import { bitstringStatus, revocationList2020Status } from '../../status-lists/status-list/bitstring-status-list.js';
import { deniedClaim, type ClaimFault } from '../claim-faults.decisions.js';
import type { Format, FormatMetadata, PinnedFacts, SignerPolicy, UnsignedCredential } from '../format.js';
import { dateTime, validityOf } from '../../settings/credential-configuration/validity.js';
import { vcFaults } from '../vc-configuration.decisions.js';
import { describing, typesOf, vcMetadataOf } from '../vc-credential.js';
import { contextsOf, isDataModel1 } from './base-context.js';
import {
  algorithmOf,
  checkProofTypeChange,
  ldpVcContentOf,
  ldpVcRecordOf,
  proofTypeOf,
  statusPolicyOf,
  trialOf,
  type LdpVcContent,
} from './ldp-vc.decisions.js';
import { contextFaults, termFault, valueFault } from './linked-data.decisions.js';
import { TenantContexts } from './tenant-contexts.js';
import { claimsToTry, claimTooSlow, documentWithoutClaims, plainClaimFault, tryClaims } from './try-claims.js';

type LdpVcConfiguration = PinnedConfiguration<LdpVcContent>;
type LinkedDataDocument = Record<string, unknown> & { '@context': string[] };

/** Both documents are canonicalized, hashed and then signed. */
interface UnsignedLdpVc extends UnsignedCredential {
  configuration: LdpVcConfiguration;
  claims: Record<string, unknown>;
  document: LinkedDataDocument;
  proof: UnsignedProof;
}

/** W3C VCDM 2.0 with a Data Integrity proof (VC-DI-EDDSA §3.2, VC-DI-ECDSA §3.2) or VCDM 1.1 with Ed25519Signature2018, OID4VCI Appendix A.1.2. */
@Injectable()
export class LdpVc implements Format<LdpVcContent, UnsignedLdpVc> {
  readonly format = 'ldp_vc';
  readonly profile = 'web-semantic';
  readonly resources: Format['resources'] = {
    signer: { kind: 'pinnedKey', algorithms: ['Ed25519', 'P-256'] },
    status: (content) => statusPolicyOf(content as LdpVcContent),
    revocation: 'reversible',
  };
  readonly proofAlgorithms = PROOF_ALGORITHMS;
  /** SHA-256 of canonical proof options: identical for all credentials of a configuration within a second. */
  private readonly proofHashes = new LRUCache<string, Buffer>({ max: 500 });

  constructor(
    private readonly contexts: ContextLoader,
    private readonly tenantContexts: TenantContexts,
    private readonly canonicalization: Canonicalization,
    private readonly config: PlatformConfig,
    private readonly proofMethods: ProofMethods,
  ) {}

  signerOf(request: WebSemanticConfigurationRequest): SignerPolicy {
    return { kind: 'pinnedKey', algorithms: [algorithmOf(request)] };
  }

  faultsOf(request: WebSemanticConfigurationRequest): ErrorDetail[] {
    return [...vcFaults(request, { persists: true, termFault, valueFault }), ...contextFaults(request.contexts ?? [])];
  }

  /** A pinned address keeps its document: issued and future credentials read the same. */
  async contentOf(
    request: WebSemanticConfigurationRequest,
    replaced: LdpVcContent | undefined,
    context: ClientContext,
  ): Promise<LdpVcContent> {
    if (replaced) checkProofTypeChange(request, replaced);
    const known = replaced?.contexts ?? [];
    return ldpVcContentOf(
      request,
      await this.tenantContexts.pin(request.contexts ?? [], known, trialOf(request), eventContext(context)),
    );
  }

  recordOf(configuration: LdpVcConfiguration): WebSemanticConfiguration {
    return ldpVcRecordOf(configuration);
  }

  metadataOf(configuration: LdpVcConfiguration): FormatMetadata {
    const definition = { '@context': this.contextsOf(configuration), type: typesOf(configuration) };
    return vcMetadataOf(configuration, definition, [proofTypeOf(configuration.content)]);
  }

  /** Linked data is bounded, and one claim may be mapped to many (ADR 0042). */
  async check(
    tenantId: string,
    configuration: Pick<LdpVcConfiguration, 'type' | 'content'>,
    from: UserObject,
  ): Promise<ClaimFault | undefined> {
    const { claimMappings, contexts } = configuration.content;
    const known = mapKnownClaims(claimMappings, from);
    return plainClaimFault(known) ?? this.tryClaims(tenantId, configuration, claimsToTry(known, contexts.length > 0));
  }

  documentBytesOf(claims: Record<string, unknown>): number {
    return jsonBytes(claims);
  }

  mapClaims({ content }: LdpVcConfiguration, from: UserObject): Record<string, unknown> {
    return mapClaims(content.claimMappings, from);
  }

  prepare(facts: PinnedFacts<LdpVcContent>): UnsignedLdpVc {
    const { configuration, claims, holder, time, credentialId, status } = facts;
    const { content, issuerKey } = configuration;
    const { validFrom, validUntil } = validityOf(time, content.expiresIn);
    const [from, until, statusIn] = isDataModel1(content)
      ? (['issuanceDate', 'expirationDate', revocationList2020Status] as const)
      : (['validFrom', 'validUntil', bitstringStatus] as const);
    const document = {
      '@context': this.contextsOf(configuration),
      id: `urn:uuid:${credentialId}`,
      type: typesOf(configuration),
      issuer: { ...content.issuer, id: issuerKey.did },
      [from]: dateTime(validFrom),
      ...(validUntil && { [until]: dateTime(validUntil) }),
      ...describing(configuration),
      ...(status && { credentialStatus: statusIn(status) }),
      credentialSubject: { ...claims, id: holder.did },
    };
    const proof = proofOptions(proofTypeOf(content), dateTime(validFrom), issuerKey.verificationMethod);
    const holderKey = holder.publicJwk;
    return {
      ...{ credentialId, holderKey, validFrom, ...(validUntil && { validUntil }) },
      ...{ configuration, claims, document, proof },
    };
  }

  /** One canonicalization for all of them, so that limits and deadline hold for the request (ADR 0042). */
  async sign(tenantId: string, unsigned: readonly UnsignedLdpVc[], signer: Signer): Promise<Record<string, unknown>[]> {
    if (!unsigned[0]) return [];
    const method = await this.proofMethodOf(tenantId, unsigned[0].proof);
    const credentials = unsigned.map((it) => ({ ...it, proof: { ...it.proof, verificationMethod: method } }));
    const first = credentials[0]!;
    const { configuration, claims } = first;
    // Signing itself finds everything else that the check finds.
    const fault =
      plainClaimFault(claims, credentials.length) ??
      (await this.tryClaims(tenantId, configuration, claimsWithNestedArrays(claims, configuration)));
    if (fault) throw deniedClaim(CHECK, fault);
    try {
      const [optionsHash, ...hashes] = await this.hashes(tenantId, first, credentials);
      return credentials.map(({ document, proof }, index) => {
        const signed: readonly [Buffer, Buffer] = [optionsHash!, hashes[index]!];
        return signProof(document, proof, signed, (data) => signer.sign(data));
      });
    } catch (error) {
      // The error's own message may contain claim values.
      if (error instanceof DocumentFault) throw await this.deniedDocument(tenantId, configuration, claims);
      // Permanent, as the same claims take as long again: a wallet must not retry (OID4VCI §8.3.1.2).
      if (error instanceof CanonicalizationTooLong) throw deniedClaim(CHECK, claimTooSlow(claims));
      throw error;
    }
  }

  /** `Ed25519Signature2018` defines its own type of method. */
  private async proofMethodOf(tenantId: string, proof: UnsignedProof): Promise<string> {
    const { type, verificationMethod } = proof;
    return type === 'DataIntegrityProof' ? this.proofMethods.find(tenantId, verificationMethod) : verificationMethod;
  }

  private async tryClaims(
    tenantId: string,
    configuration: Pick<LdpVcConfiguration, 'type' | 'content'>,
    claims: Record<string, unknown>,
  ): Promise<ClaimFault | undefined> {
    if (Object.keys(claims).length === 0) return undefined;
    const { content } = configuration;
    const document = documentWithoutClaims(this.contextsOf(configuration), typesOf(configuration));
    const contexts = await this.contexts.pinnedTexts(content.contexts);
    return tryClaims(this.canonicalization, tenantId, document, claims, contexts);
  }

  /** The claim that makes the document invalid. Without one, it is what the configuration describes. */
  private async deniedDocument(
    tenantId: string,
    configuration: LdpVcConfiguration,
    claims: Record<string, unknown>,
  ): Promise<AppError> {
    const fault = await this.tryClaims(tenantId, configuration, claims);
    if (fault) return deniedClaim(CHECK, fault);
    return oauthError('credential_request_denied', 'the credential cannot be expressed as linked data', {
      check: CHECK,
    });
  }

  /** Canonical hash of the proof options, then of each document. */
  private async hashes(
    tenantId: string,
    { configuration, document, proof }: UnsignedLdpVc,
    credentials: readonly UnsignedLdpVc[],
  ): Promise<Buffer[]> {
    const { id, version, content } = configuration;
    const documents = credentials.map((it) => it.document);
    const contexts = await this.contexts.pinnedTexts(content.contexts);
    const at = `${id} ${version} ${proof.created} ${proof.verificationMethod}`;
    const known = this.proofHashes.get(at);
    if (known) return [known, ...(await this.canonicalization.hashes(tenantId, documents, contexts))];
    const found = await this.canonicalization.hashes(
      tenantId,
      [proofOptionsDocument(document, proof), ...documents],
      contexts,
    );
    this.proofHashes.set(at, found[0]!);
    return found;
  }

  private contextsOf({ content }: Pick<LdpVcConfiguration, 'content'>): string[] {
    return contextsOf(content, this.config.contextUrl, content.contexts);
  }
}

const CHECK = 'formats/ldp-vc';

/** Only a context of the configuration can make a set of an object. A default value was checked with its configuration (ADR 0099). */
const claimsWithNestedArrays = (
  claims: Record<string, unknown>,
  { content: { claimMappings, contexts } }: LdpVcConfiguration,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(claims).filter(
      ([name, value]) =>
        (hasNestedArray(value) || (contexts.length > 0 && mayHaveSet(value))) &&
        value !== claimMappings[name]!.defaultValue,
    ),
  );
