import { IsBoolean, IsIn } from 'class-validator';
import { Keywords, Optional } from '../../validators.js';
import { configurationOperations, OptionalEntries } from '../credential-configurations.js';
import { registryOperations } from '../credential-registry.js';
import { revocationOperations } from '../credential-status.js';
import { JwtVcConfiguration, jwtVcConfigurations, JwtVcConfigurationRequest } from './jwt-vc-json.js';
import { SERVICE_URL_PATTERN } from '../../patterns.js';

/** Proof of `ldp_vc` credentials: `eddsa-rdfc-2022` and `ecdsa-rdfc-2019` for VC Data Model 2.0, `Ed25519Signature2018` for VC Data Model 1.1. */
export type ProofType = 'eddsa-rdfc-2022' | 'ecdsa-rdfc-2019' | 'Ed25519Signature2018';
const PROOF_TYPES: readonly ProofType[] = ['eddsa-rdfc-2022', 'ecdsa-rdfc-2019', 'Ed25519Signature2018'];

export class WebSemanticConfigurationRequest extends JwtVcConfigurationRequest {
  /** URLs of further JSON-LD contexts of the credentials. Each is fetched once, when it is configured. */
  @OptionalEntries(10)
  @Keywords({ uniqueItems: true, items: { pattern: SERVICE_URL_PATTERN.source } })
  contexts?: string[];

  /**
   * Default `eddsa-rdfc-2022`, for VC Data Model 2.0. `ecdsa-rdfc-2019`, for the same model, signs with a P-256 key of the issuer DID, the
   * others with an Ed25519 key; the kind of key cannot be changed later. `Ed25519Signature2018`, for VC Data Model 1.1, supports older wallets.
   */
  @Optional()
  @IsIn(PROOF_TYPES, { message: `must be one of: ${PROOF_TYPES.join(', ')}` })
  proofType?: ProofType;

  /**
   * Whether each credential has an entry in a revocation list, `credentialStatus`, so that it can be revoked: a `BitstringStatusListEntry` for
   * VC Data Model 2.0, a `RevocationList2020Status` for 1.1. Default: false. A change applies to the credentials that are issued after it.
   */
  @Optional() @IsBoolean({ message: 'must be a boolean' }) override revocable?: boolean;

  /**
   * True to keep each issued credential, sealed under the key of its user, so that it can be retrieved. Default false: only its metadata are
   * kept. Applies to credentials issued from then on.
   */
  @Optional() @IsBoolean({ message: 'must be a boolean' }) override persist?: boolean;
}

export class WebSemanticConfiguration extends JwtVcConfiguration {
  contexts: string[];
  proofType: ProofType;
}

export const webSemanticConfigurations = configurationOperations({
  profile: 'web-semantic',
  prefix: 'CREDENTIAL_WEB_SEMANTIC_CREDENTIAL_CONFIGURATION',
  request: WebSemanticConfigurationRequest,
  configuration: WebSemanticConfiguration,
  example: jwtVcConfigurations.create.example!,
});

export const webSemanticRegistry = registryOperations({
  profile: 'web-semantic',
  prefix: 'CREDENTIAL_WEB_SEMANTIC',
});

export const webSemanticRevocation = revocationOperations({
  profile: 'web-semantic',
  prefix: 'CREDENTIAL_WEB_SEMANTIC_REVOCATION',
  retrievePrefix: 'CREDENTIAL_WEB_SEMANTIC_REVOCATION_RETRIEVE',
  response: 'empty',
});
