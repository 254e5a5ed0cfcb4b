import type { ConfigurationOperations } from './credential-configurations.js';
import type { RegistryOperations } from './credential-registry.js';
import { createRevocationNotification, type RevocationOperations, type StatusOperations } from './credential-status.js';
import {
  compactSemanticConfigurations,
  compactSemanticRegistry,
  compactSemanticRevocation,
  compactSemanticRevocationLists,
} from './formats/cwt-vc.js';
import { compactConfigurations, compactRegistry, compactRevocation, compactRevocationLists } from './formats/cwt.js';
import { sdJwtConfigurations, sdJwtStatus } from './formats/dc-sd-jwt.js';
import { jwtVcConfigurations, jwtVcStatus } from './formats/jwt-vc-json.js';
import { webSemanticConfigurations, webSemanticRegistry, webSemanticRevocation } from './formats/ldp-vc.js';
import { mobileConfigurations, mobileRegistry, mobileStatus } from './formats/mso-mdoc.js';
import type { RevocationListOperations } from './status-lists.js';

export * from './formats/cwt-vc.js';
export * from './formats/cwt.js';
export * from './formats/dc-sd-jwt.js';
export * from './formats/jwt-vc-json.js';
export * from './formats/ldp-vc.js';
export * from './formats/mso-mdoc.js';

/** The profile of each credential format. */
export const PROFILES = {
  ldp_vc: 'web-semantic',
  jwt_vc_json: 'jwt-vc',
  'dc+sd-jwt': 'sd-jwt',
  cwt: 'compact',
  cwt_vc: 'compact-semantic',
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
  cwt: compactConfigurations,
  cwt_vc: compactSemanticConfigurations,
  mso_mdoc: mobileConfigurations,
};

/** One of these operations, of every format. */
export const configurationOperationOf = <Name extends keyof ConfigurationOperations>(
  name: Name,
): ConfigurationOperations[Name][] => Object.values(CONFIGURATION_OPERATIONS).map((operations) => operations[name]);

/** The operations on issued credentials, of the formats that have them. */
export const REGISTRY_OPERATIONS: Readonly<Partial<Record<CredentialFormat, Partial<RegistryOperations>>>> = {
  ldp_vc: webSemanticRegistry,
  cwt: compactRegistry,
  cwt_vc: compactSemanticRegistry,
  mso_mdoc: mobileRegistry,
};

/** One of these operations, of every format that has it. */
export const registryOperationOf = <Name extends keyof RegistryOperations>(name: Name): RegistryOperations[Name][] =>
  Object.values(REGISTRY_OPERATIONS).flatMap((operations) => operations[name] ?? []);

/** The operations on the status of credentials, of the formats that have them. */
export const STATUS_OPERATIONS: Readonly<Partial<Record<CredentialFormat, StatusOperations>>> = {
  jwt_vc_json: jwtVcStatus,
  'dc+sd-jwt': sdJwtStatus,
  mso_mdoc: mobileStatus,
};

/** One of these operations, of every format that has it. */
export const statusOperationOf = <Name extends keyof StatusOperations>(name: Name): StatusOperations[Name][] =>
  Object.values(STATUS_OPERATIONS).map((operations) => operations[name]);

/** The operations on the revocation of credentials, of the formats whose credentials are revoked and restored, not suspended. */
export const REVOCATION_OPERATIONS: Readonly<Partial<Record<CredentialFormat, RevocationOperations>>> = {
  ldp_vc: webSemanticRevocation,
  cwt: compactRevocation,
  cwt_vc: compactSemanticRevocation,
};

/** One of these operations, of every format that has it. */
export const revocationOperationOf = <Name extends keyof RevocationOperations>(
  name: Name,
): RevocationOperations[Name][] => Object.values(REVOCATION_OPERATIONS).map((operations) => operations[name]);

/** Messages for the holders of revoked credentials. */
export const NOTIFICATION_OPERATIONS: Readonly<Partial<Record<CredentialFormat, typeof createRevocationNotification>>> =
  {
    ldp_vc: createRevocationNotification,
  };

/** The operations on the revocation lists of the formats that have them. */
export const REVOCATION_LIST_OPERATIONS: Readonly<Partial<Record<CredentialFormat, RevocationListOperations>>> = {
  cwt: compactRevocationLists,
  cwt_vc: compactSemanticRevocationLists,
};

/** One of these operations, of every format that has it. */
export const revocationListOperationOf = <Name extends keyof RevocationListOperations>(
  name: Name,
): RevocationListOperations[Name][] => Object.values(REVOCATION_LIST_OPERATIONS).map((operations) => operations[name]);
