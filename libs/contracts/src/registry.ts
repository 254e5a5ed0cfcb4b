import * as analytics from './analytics/analytics.operations.js';
import * as dids from './dids/dids.operations.js';
import { retrieveContext } from './issuance/contexts.js';
import {
  checkCredentialConfiguration,
  countDomainConfigurations,
  jwtVcConfigurations,
  webSemanticConfigurations,
} from './issuance/credential-configurations.js';
import * as offers from './issuance/offers.js';
import * as protocol from './issuance/protocol.js';
import * as users from './issuance/users.js';
import * as management from './management/management.operations.js';
import type { Operation, ServiceName } from './operation.js';
import * as authenticationProviders from './tenant-config/authentication-providers.js';
import * as customDomains from './tenant-config/custom-domains.js';
import * as signIn from './tenant-config/sign-in.js';
import * as webhooks from './webhooks/webhooks.operations.js';

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'subject' in value && 'useCase' in value;

/** Every operation of the platform, in the order of the reference page. */
export const OPERATIONS: readonly Operation[] = [
  management,
  customDomains,
  authenticationProviders,
  signIn,
  dids,
  webSemanticConfigurations,
  jwtVcConfigurations,
  { checkCredentialConfiguration, countDomainConfigurations },
  offers,
  protocol,
  { retrieveContext },
  users,
  webhooks,
  analytics,
].flatMap((group) => Object.values(group as Record<string, unknown>).filter(isOperation));

export const operationsOf = (service: ServiceName): Operation[] =>
  OPERATIONS.filter((operation) => operation.service === service);

const names = new Set<string>();
for (const { name } of OPERATIONS) {
  if (names.has(name)) throw new Error(`operation ${name} is declared twice`);
  names.add(name);
}
