import { Injectable } from '@nestjs/common';
import type {
  CompactSemanticConfiguration,
  CompactSemanticConfigurationRequest,
  ErrorDetail,
} from '@attestry/contracts';
import { jsonClaims, prepareSemanticCwt } from '@attestry/cose';
import type { Signer } from '@attestry/keys';
import type { PinnedConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { PROOF_ALGORITHMS } from '../proof-types.js';
import type { UserObject } from '../map-claims.js';
import type { ClaimFault } from '../claim-faults.decisions.js';
import { cwtContentOf, cwtFaults, cwtRecordOf, type CwtContent } from '../cwt-configuration.decisions.js';
import {
  checkCwtClaims,
  cwtMetadataOf,
  cwtResources,
  encodingFault,
  mapCwtClaims,
  prepareCwtCredential,
  signCwts,
  type UnsignedCwtCredential,
} from '../cwt-credential.js';
import type { Format, FormatMetadata, PinnedFacts } from '../format.js';
import { subjectNameFault } from '../vc-configuration.decisions.js';
import { semanticContextFaults } from './semantic-contexts.decisions.js';

export interface CwtVcContent extends CwtContent {
  /** Beside that of the data model. */
  contexts?: string[];
}

type CwtVcConfiguration = PinnedConfiguration<CwtVcContent>;

/** W3C VCDM 1.1 in a CWT; specification notes, Encodings of CBOR credentials. */
@Injectable()
export class CwtVc implements Format<CwtVcContent, UnsignedCwtCredential> {
  readonly format = 'cwt_vc';
  readonly profile = 'compact-semantic';
  readonly isOwnFormat = true;
  readonly resources = cwtResources(this.profile);
  readonly proofAlgorithms = PROOF_ALGORITHMS;
  readonly sharesTypesWith = 'cwt';

  faultsOf(request: CompactSemanticConfigurationRequest): ErrorDetail[] {
    const valueFault = (name: string, defaultValue: unknown): string | undefined =>
      defaultValue !== undefined && encodingFault(() => jsonClaims({ [name]: defaultValue }))
        ? 'must have only well-formed text in defaultValue'
        : undefined;
    return [
      ...cwtFaults(request, { nameFault: subjectNameFault, valueFault }),
      ...semanticContextFaults(request.contexts ?? []),
    ];
  }

  async contentOf(request: CompactSemanticConfigurationRequest): Promise<CwtVcContent> {
    const { contexts = [] } = request;
    return { ...(contexts.length > 0 && { contexts }), ...cwtContentOf(request) };
  }

  recordOf(configuration: CwtVcConfiguration): CompactSemanticConfiguration {
    const { contexts = [] } = configuration.content;
    return { ...cwtRecordOf(configuration), contexts };
  }

  metadataOf(configuration: CwtVcConfiguration): FormatMetadata {
    const types = ['VerifiableCredential', configuration.type];
    return cwtMetadataOf(configuration, { types }, ['vc', 'credentialSubject']);
  }

  async check(_tenantId: string, configuration: CwtVcConfiguration, from: UserObject): Promise<ClaimFault | undefined> {
    return checkCwtClaims(configuration, from, jsonClaims);
  }

  mapClaims(configuration: CwtVcConfiguration, from: UserObject): Record<string, unknown> {
    return mapCwtClaims(configuration, from);
  }

  prepare(facts: PinnedFacts<CwtVcContent>): UnsignedCwtCredential {
    const { configuration, claims, holder } = facts;
    const { type, content } = configuration;
    return prepareCwtCredential(facts, (shared) =>
      prepareSemanticCwt(shared, {
        contexts: content.contexts ?? [],
        types: [type],
        credentialSubject: { ...claims, id: holder.did },
      }),
    );
  }

  async sign(_tenantId: string, credentials: readonly UnsignedCwtCredential[], signer: Signer): Promise<string[]> {
    return signCwts(credentials, signer);
  }
}
