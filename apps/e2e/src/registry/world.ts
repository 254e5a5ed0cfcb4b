import type { Role } from '@attestry/contracts';
import {
  CustomerIaca,
  ManagementApi,
  type MailReceiver,
  type OpenIdProvider,
  type RunningPlatform,
  type TenantUnderTest,
  type TestDnsServer,
} from '@attestry/testing';

/** Available to every row of the table: two tenants, a client for each role, and resources that exist in both. */
export interface World {
  platform: RunningPlatform;
  dns: TestDnsServer;
  management: ManagementApi;
  /** A second management client, member of nothing. */
  outsider: ManagementApi;
  /** The OpenID provider of people. */
  provider: OpenIdProvider;
  mail: MailReceiver;
  /** A person, member of nothing. */
  person: ManagementApi;
  environmentId: string;
  tenant: TenantUnderTest;
  other: TenantUnderTest;
  tokenOf: Record<Role, string>;
  own: Things;
  foreign: Things;
}

/** Ids of one thing of each kind. */
export interface Things {
  did: string;
  /** A did:web of an unreachable host. */
  unpublished: string;
  jwtVc: string;
  /** Its issuances are approved. */
  approvedJwtVc: string;
  /** Deferral of that configuration. */
  deferral: string;
  webSemantic: string;
  webSemanticCredential: string;
  sdJwt: string;
  compact: string;
  compactSemantic: string;
  mobile: string;
  /** Credentials with a status. */
  jwtVcCredential: string;
  sdJwtCredential: string;
  compactCredential: string;
  compactSemanticCredential: string;
  mobileCredential: string;
  /** List of the mobile credential; it has a token. */
  statusList: string;
  statusListConfiguration: string;
  wallet: string;
  claimSource: string;
  /** Has a root certificate. */
  attestedWallet: string;
  offer: string;
  /** Offer of the authorization code flow. */
  storedOffer: string;
  user: string;
  webhook: string;
  authenticationProvider: string;
  client: string;
  /** Id of an invited person. */
  member: string;
  iaca: string;
  unmanagedIaca: string;
  /** Signer of the unmanaged IACA, without a certificate. */
  documentSigner: string;
  statusListSigner: string;
  /** Owner of the key of the unmanaged IACA. */
  customer: CustomerIaca;
}
