import { Injectable } from '@nestjs/common';
import type { CompactConfiguration, CompactConfigurationRequest, ErrorDetail } from '@attestry/contracts';
import { prepareCwt, scalarClaims } from '@attestry/cose';
import type { Signer } from '@attestry/keys';
import type { PinnedConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { PROOF_ALGORITHMS } from '../proof-types.js';
import type { UserObject } from '../map-claims.js';
import type { ClaimFault } from '../claim-faults.decisions.js';
import { DOTS_FAULT, isDotted } from '../claim-mappings.decisions.js';
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
import { refusedNameFault, reservedName } from '../reserved-names.js';

type CwtConfiguration = PinnedConfiguration<CwtContent>;

/** A CWT (RFC 8392) whose claims are booleans, strings and numbers; specification notes, Encodings of CBOR credentials. */
@Injectable()
export class Cwt implements Format<CwtContent, UnsignedCwtCredential> {
  readonly format = 'cwt';
  readonly profile = 'compact';
  readonly isOwnFormat = true;
  readonly resources = cwtResources(this.profile);
  readonly proofAlgorithms = PROOF_ALGORITHMS;

  faultsOf(request: CompactConfigurationRequest): ErrorDetail[] {
    return cwtFaults(request, {
      nameFault: (name) => {
        if (RESERVED_NAMES.has(name))
          return reservedName(`decoders of CWTs return ${name} as a claim that the platform sets`);
        return isDotted(name) ? `${DOTS_FAULT}: claims of this format have no members` : refusedNameFault(name);
      },
      valueFault: (name, defaultValue) =>
        defaultValue !== undefined && encodingFault(() => scalarClaims({ [name]: defaultValue }))
          ? 'must have a boolean, a well-formed string or a number as defaultValue'
          : undefined,
    });
  }

  async contentOf(request: CompactConfigurationRequest): Promise<CwtContent> {
    return cwtContentOf(request);
  }

  recordOf(configuration: CwtConfiguration): CompactConfiguration {
    return cwtRecordOf(configuration);
  }

  metadataOf(configuration: CwtConfiguration): FormatMetadata {
    return cwtMetadataOf(configuration, { type: configuration.type }, []);
  }

  async check(_tenantId: string, configuration: CwtConfiguration, from: UserObject): Promise<ClaimFault | undefined> {
    return checkCwtClaims(configuration, from, scalarClaims);
  }

  mapClaims(configuration: CwtConfiguration, from: UserObject): Record<string, unknown> {
    return mapCwtClaims(configuration, from);
  }

  prepare(facts: PinnedFacts<CwtContent>): UnsignedCwtCredential {
    const { configuration, claims } = facts;
    return prepareCwtCredential(facts, (shared) => prepareCwt(shared, { type: configuration.type, claims }));
  }

  async sign(_tenantId: string, credentials: readonly UnsignedCwtCredential[], signer: Signer): Promise<string[]> {
    return signCwts(credentials, signer);
  }
}

/** Names under which decoders return what the platform sets (RFC 8392 §4, JWT). */
const RESERVED_NAMES: ReadonlySet<string> = new Set([
  'iss',
  'sub',
  'aud',
  'exp',
  'nbf',
  'iat',
  'cti',
  'jti',
  'cnf',
  'type',
  'status',
  'vc',
]);
