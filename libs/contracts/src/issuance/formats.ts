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

/** Profiles in credential reports. */
export const REPORTED_PROFILES = ['web-semantic', 'jwt-vc', 'sd-jwt', 'cwt', 'mdoc'] as const;
export type ReportProfile = (typeof REPORTED_PROFILES)[number];
/** Profile of each format in a report: CWT and mobile documents have the names that reports of other platforms give them. */
export const REPORT_PROFILES: Readonly<Record<CredentialFormat, ReportProfile>> = {
  ldp_vc: 'web-semantic',
  jwt_vc_json: 'jwt-vc',
  'dc+sd-jwt': 'sd-jwt',
  cwt: 'cwt',
  cwt_vc: 'cwt',
  mso_mdoc: 'mdoc',
};

/** The operations of a format; `undefined` where its credentials have none of the kind. */
interface FormatOperations {
  /** On its configurations. */
  configurations: ConfigurationOperations;
  /** On issued credentials. */
  registry: Partial<RegistryOperations> | undefined;
  /** On the status of credentials. */
  status: StatusOperations | undefined;
  /** On the revocation of credentials that are revoked and restored, not suspended. */
  revocation: RevocationOperations | undefined;
  /** Messages for the holders of revoked credentials. */
  notifications: typeof createRevocationNotification | undefined;
  /** On revocation lists. */
  revocationLists: RevocationListOperations | undefined;
}

/** The operations of each format: a forgotten one does not compile. */
export const FORMATS: Readonly<Record<CredentialFormat, FormatOperations>> = {
  ldp_vc: {
    configurations: webSemanticConfigurations,
    registry: webSemanticRegistry,
    status: undefined,
    revocation: webSemanticRevocation,
    notifications: createRevocationNotification,
    revocationLists: undefined,
  },
  jwt_vc_json: {
    configurations: jwtVcConfigurations,
    registry: undefined,
    status: jwtVcStatus,
    revocation: undefined,
    notifications: undefined,
    revocationLists: undefined,
  },
  'dc+sd-jwt': {
    configurations: sdJwtConfigurations,
    registry: undefined,
    status: sdJwtStatus,
    revocation: undefined,
    notifications: undefined,
    revocationLists: undefined,
  },
  cwt: {
    configurations: compactConfigurations,
    registry: compactRegistry,
    status: undefined,
    revocation: compactRevocation,
    notifications: undefined,
    revocationLists: compactRevocationLists,
  },
  cwt_vc: {
    configurations: compactSemanticConfigurations,
    registry: compactSemanticRegistry,
    status: undefined,
    revocation: compactSemanticRevocation,
    notifications: undefined,
    revocationLists: compactSemanticRevocationLists,
  },
  mso_mdoc: {
    configurations: mobileConfigurations,
    registry: mobileRegistry,
    status: mobileStatus,
    revocation: undefined,
    notifications: undefined,
    revocationLists: undefined,
  },
};

/** The operations of one kind, of the formats that have them. */
const tableOf = <Kind extends keyof FormatOperations>(kind: Kind) =>
  Object.fromEntries(
    Object.entries(FORMATS).flatMap(([format, operations]) =>
      operations[kind] === undefined ? [] : [[format, operations[kind]]],
    ),
  ) as Readonly<
    undefined extends FormatOperations[Kind]
      ? Partial<Record<CredentialFormat, NonNullable<FormatOperations[Kind]>>>
      : Record<CredentialFormat, FormatOperations[Kind]>
  >;

export const CONFIGURATION_OPERATIONS = tableOf('configurations');
export const REGISTRY_OPERATIONS = tableOf('registry');
export const STATUS_OPERATIONS = tableOf('status');
export const REVOCATION_OPERATIONS = tableOf('revocation');
export const NOTIFICATION_OPERATIONS = tableOf('notifications');
export const REVOCATION_LIST_OPERATIONS = tableOf('revocationLists');

/** One operation on configurations, of every format. */
export const configurationOperationOf = <Name extends keyof ConfigurationOperations>(
  name: Name,
): ConfigurationOperations[Name][] => Object.values(CONFIGURATION_OPERATIONS).map((operations) => operations[name]);

/** One operation on issued credentials, of every format that has it. */
export const registryOperationOf = <Name extends keyof RegistryOperations>(name: Name): RegistryOperations[Name][] =>
  Object.values(REGISTRY_OPERATIONS).flatMap((operations) => operations[name] ?? []);

/** One operation on the status of credentials, of every format that has it. */
export const statusOperationOf = <Name extends keyof StatusOperations>(name: Name): StatusOperations[Name][] =>
  Object.values(STATUS_OPERATIONS).map((operations) => operations[name]);

/** One operation on the revocation of credentials, of every format that has it. */
export const revocationOperationOf = <Name extends keyof RevocationOperations>(
  name: Name,
): RevocationOperations[Name][] => Object.values(REVOCATION_OPERATIONS).map((operations) => operations[name]);

/** One operation on revocation lists, of every format that has it. */
export const revocationListOperationOf = <Name extends keyof RevocationListOperations>(
  name: Name,
): RevocationListOperations[Name][] => Object.values(REVOCATION_LIST_OPERATIONS).map((operations) => operations[name]);
