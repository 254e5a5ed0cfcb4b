import type { ConfigurationOperations } from './credential-configurations.js';
import { sdJwtConfigurations } from './formats/dc-sd-jwt.js';
import { jwtVcConfigurations } from './formats/jwt-vc-json.js';
import { webSemanticConfigurations } from './formats/ldp-vc.js';
import { mobileConfigurations } from './formats/mso-mdoc.js';

export * from './formats/dc-sd-jwt.js';
export * from './formats/jwt-vc-json.js';
export * from './formats/ldp-vc.js';
export * from './formats/mso-mdoc.js';

/** The profile of each credential format. */
export const PROFILES = {
  ldp_vc: 'web-semantic',
  jwt_vc_json: 'jwt-vc',
  'dc+sd-jwt': 'sd-jwt',
  mso_mdoc: 'mobile',
} as const;
/** Credential format (OID4VCI 1.0 Appendix A). */
export type CredentialFormat = keyof typeof PROFILES;
/** Path segment and variant of the operations. */
export type CredentialProfile = (typeof PROFILES)[CredentialFormat];

/** The operations on the configurations of each format. */
export const CONFIGURATION_OPERATIONS: Readonly<Record<CredentialFormat, ConfigurationOperations>> = {
  ldp_vc: webSemanticConfigurations,
  jwt_vc_json: jwtVcConfigurations,
  'dc+sd-jwt': sdJwtConfigurations,
  mso_mdoc: mobileConfigurations,
};

/** One of these operations, of every format. */
export const configurationOperationOf = <Name extends keyof ConfigurationOperations>(
  name: Name,
): ConfigurationOperations[Name][] => Object.values(CONFIGURATION_OPERATIONS).map((operations) => operations[name]);
