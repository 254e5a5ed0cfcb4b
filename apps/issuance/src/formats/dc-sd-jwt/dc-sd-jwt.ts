import { Injectable } from '@nestjs/common';
import {
  invalidBody,
  oauthError,
  type ClientContext,
  type ErrorDetail,
  type SdJwtConfiguration,
  type SdJwtConfigurationRequest,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import type { Signer } from '@attestry/keys';
import { eventContext } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import type { CertifiedSigner } from '../../certificates/issuer-certificates/issuer-signers.js';
import { base64Bytes, jsonBytes } from '../document-size.decisions.js';
import { mapClaims, mapKnownClaims, type UserObject } from '../map-claims.js';
import { publishVersion } from '../../vocabularies/published-type/published-type.decisions.js';
import { publishedType, publishedTypeStream } from '../../vocabularies/published-type/published-type.state.js';
import { typeAddress, typeAddressFault, typesAddress } from '../../vocabularies/published-type/type-address.js';
import { deniedClaim, type ClaimFault } from '../claim-faults.decisions.js';
import { credentialTimes, TimesFault } from '../credential-times.js';
import { claimOf, displayDefaults, displayOf } from '../display.decisions.js';
import {
  certifiedSigner,
  type CredentialFacts,
  type Format,
  type FormatMetadata,
  type UnsignedCredential,
} from '../format.js';
import { proofTypesOf } from '../proof-types.js';
import { addDuration } from '../../settings/credential-configuration/validity.js';
import { LIST_SIZE } from '../../status-lists/status-list/packed-statuses.js';
import { tokenStatus } from '../../status-lists/status-list/token-status-list.js';
import { claimFault, ClaimNotDisclosable } from './claim-fault.js';
import { sdJwtContentOf, sdJwtFaults, sdJwtRecordOf, type SdJwtContent } from './sd-jwt-configuration.decisions.js';
import { assembleSdJwt, prepareSdJwt, sdJwtHeader, type PreparedSdJwt } from './sd-jwt.js';
import { isTypeChanged, publishType, type TypeDescription } from './type-metadata.js';

type SdJwt = ActiveConfiguration<SdJwtContent>;
type UnsignedSdJwt = UnsignedCredential & PreparedSdJwt;

/** Salt and digest of a disclosure, with what separates them. */
const DISCLOSURE_BYTES = 100;

/** SD-JWT VC, OID4VCI Appendix A.3, with the profile of HAIP 1.0 §6.1. */
@Injectable()
export class DcSdJwt implements Format<SdJwtContent, UnsignedSdJwt> {
  readonly format = 'dc+sd-jwt';
  readonly isOfHaip = true;
  readonly profile = 'sd-jwt';
  readonly resources: Format['resources'] = {
    signer: { kind: 'issuerSigner' },
    status: { kind: 'tokenStatusList', tokenType: 'jwt', size: LIST_SIZE },
  };
  readonly proofAlgorithms: Format['proofAlgorithms'] = ['ES256'];
  /** Headers by fingerprint of the certificate: identical for every credential of a signer. */
  private readonly headers = new LRUCache<string, string>({ max: 1000 });

  constructor(private readonly streams: Streams) {}

  faultsOf(request: SdJwtConfigurationRequest): ErrorDetail[] {
    return sdJwtFaults(request);
  }

  /** Publishes the type before the configuration names it; a version that no configuration names is harmless. */
  async contentOf(
    request: SdJwtConfigurationRequest,
    replaced: SdJwtContent | undefined,
    context: ClientContext,
  ): Promise<SdJwtContent> {
    const { baseUrl } = context.tenant;
    const { type } = request;
    const vct = request.vct ?? undefined;
    const described = sdJwtContentOf(request, { vct: vct ?? '' });
    // A configuration that is retrieved and then replaced has the address of its version, maybe under an earlier base URL.
    const isOwn = vct === replaced?.vct && replaced?.vctIntegrity !== undefined;
    const isOfType = typeAddressFault(type) === undefined && vct?.startsWith(typeAddress(baseUrl, type));
    if (vct === undefined || isOwn || isOfType)
      return sdJwtContentOf(request, await this.publish(type, descriptionOf(described), context));
    if (vct.startsWith(typesAddress(baseUrl)))
      throw invalidBody('vct', 'must not be an address of type metadata of this tenant', vct);
    if (vct === replaced?.vct && isTypeChanged(withoutDisplay(replaced), withoutDisplay(described)))
      throw invalidBody('vct', 'must be another one, because name, description or claims of the type change', vct);
    return described;
  }

  recordOf(configuration: SdJwt): SdJwtConfiguration {
    return sdJwtRecordOf(configuration);
  }

  metadataOf({ content }: SdJwt): FormatMetadata {
    const { vct, claimMappings } = content;
    const display = displayOf(content.display, displayDefaults(content));
    const claims = Object.entries(claimMappings).map(([claim, mapping]) => ({ path: [claim], ...claimOf(mapping) }));
    const shared = { vct, cryptographic_binding_methods_supported: ['jwk'] };
    return {
      supported: {
        ...shared,
        credential_signing_alg_values_supported: ['ES256'],
        proof_types_supported: proofTypesOf(content, this.proofAlgorithms),
        credential_metadata: { display, ...(claims.length > 0 && { claims }) },
      },
      legacy: { ...shared, cryptographic_suites_supported: ['ES256'], display },
    };
  }

  async check(_tenantId: string, { content }: SdJwt, from: UserObject): Promise<ClaimFault | undefined> {
    return claimFault(mapKnownClaims(content.claimMappings, from));
  }

  /** Each claim in a disclosure, with a salt and a digest. */
  documentBytesOf(claims: Record<string, unknown>): number {
    return Object.entries(claims).reduce((sum, claim) => sum + base64Bytes(jsonBytes(claim) + DISCLOSURE_BYTES), 0);
  }

  mapClaims({ content }: SdJwt, from: UserObject): Record<string, unknown> {
    return mapClaims(content.claimMappings, from);
  }

  prepare(facts: CredentialFacts<SdJwtContent>): UnsignedSdJwt {
    const { configuration, claims, holder, time, credentialId, status } = facts;
    const { content } = configuration;
    const signer = certifiedSigner(facts.signer);
    try {
      const { signed, validFrom, validUntil } = credentialTimes({
        issuedAt: time,
        ...(content.expiresIn && { validUntil: addDuration(time, content.expiresIn) }),
        signer: signer.certificate,
      });
      const prepared = prepareSdJwt(
        {
          header: this.headerOf(signer),
          iss: facts.issuer,
          vct: content.vct,
          vctIntegrity: content.vctIntegrity,
          issuedAt: signed,
          validFrom,
          validUntil,
          holderKey: holder.publicJwk,
          ...(status && { status: tokenStatus(status) }),
          claims,
          mappedClaims: Object.keys(content.claimMappings).length,
        },
        facts.random,
      );
      return {
        ...{ credentialId, holderKey: holder.publicJwk, validFrom, ...(validUntil && { validUntil }) },
        ...prepared,
      };
    } catch (error) {
      // Neither message contains a value of a claim.
      if (error instanceof ClaimNotDisclosable) throw deniedClaim(CHECK, error.fault);
      if (error instanceof TimesFault) throw oauthError('credential_request_denied', error.message, { check: CHECK });
      throw error;
    }
  }

  async sign(_tenantId: string, credentials: readonly UnsignedSdJwt[], signer: Signer): Promise<string[]> {
    return credentials.map((it) => assembleSdJwt(it, signer.sign(Buffer.from(it.signingInput, 'latin1'))));
  }

  private async publish(
    type: string,
    description: TypeDescription,
    context: ClientContext,
  ): Promise<Pick<SdJwtContent, 'vct' | 'vctIntegrity'>> {
    const { id, baseUrl } = context.tenant;
    const address = typeAddress(baseUrl, type);
    const { state } = await this.streams.runDecision(
      publishedType,
      publishedTypeStream(id, type),
      (before) =>
        publishVersion(
          before,
          (version) => `${address}${version}`,
          (vct) => publishType(vct, description),
        ),
      eventContext(context),
    );
    if (state.status !== 'published') throw new Error(`type ${type} is not published`);
    return { vct: state.vct, vctIntegrity: state.integrity };
  }

  private headerOf({ certificate }: CertifiedSigner): string {
    const known = this.headers.get(certificate.fingerprint);
    if (known !== undefined) return known;
    const header = sdJwtHeader(certificate.x5c);
    this.headers.set(certificate.fingerprint, header);
    return header;
  }
}

const CHECK = 'formats/dc-sd-jwt';

type Described = Pick<SdJwtContent, 'name' | 'description' | 'issuer' | 'display' | 'claimMappings'>;

/** Texts that wallets display, in the type metadata as in the issuer metadata. */
const descriptionOf = (content: Described): TypeDescription => {
  const { name, description, display, claimMappings } = content;
  return {
    name,
    ...(description !== undefined && { description }),
    display: displayOf(display, displayDefaults(content)),
    claims: Object.fromEntries(
      Object.entries(claimMappings).map(([claim, mapping]) => {
        const { mandatory, ...displayed } = claimOf(mapping);
        return [claim, { required: mandatory, ...displayed }];
      }),
    ),
  };
};

/**
 * Description that an own `vct` stands for: its type metadata are not published here, so a change of what wallets display leaves it as it
 * is.
 */
const withoutDisplay = ({ name, description, claimMappings }: Described): TypeDescription => ({
  name,
  ...(description !== undefined && { description }),
  claims: Object.fromEntries(
    Object.entries(claimMappings).map(([claim, { required }]) => [claim, { required: required === true }]),
  ),
});
