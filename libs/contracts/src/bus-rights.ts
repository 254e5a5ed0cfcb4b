import * as didsEvents from './dids/dids.events.js';
import { KEYS_DESTROYED_SUBJECT, type IntegrationEventType } from './integration-event.js';
import * as issuanceEvents from './issuance/issuance.events.js';
import * as managementEvents from './management/management.events.js';
import {
  OPERATION_SUBJECTS,
  operationSubject,
  OUTCOMES,
  OVERDUE_MARK_SUBJECT,
  REQUESTS_COMMITTED_SUBJECT,
} from './operation-event.js';
import { SERVICE_NAMES, type BusParty, type Operation } from './operation.js';
import { OPERATIONS } from './registry.js';
import * as tenantConfigEvents from './tenant-config/tenant-config.events.js';
import { TOLD_EVENTS } from './webhooks/told-events.js';
import * as webhooksEvents from './webhooks/webhooks.events.js';

/** A durable consumer or a listener of the feed. */
export interface BusReading {
  /** `<party>.<what>`; permanent for durable consumers. */
  readonly name: string;
  readonly subjects: readonly string[];
}

/** Everything one party does on the bus; see BusRights in libs/messaging. */
export interface PartyRights {
  readonly name: BusParty;
  readonly serves: readonly string[];
  readonly askedBy: readonly BusParty[];
  readonly asks: readonly string[];
  readonly publishes: readonly string[];
  readonly consumes: readonly BusReading[];
  readonly listens: readonly BusReading[];
}

export const BUS_PARTIES: readonly BusParty[] = ['gateway', ...SERVICE_NAMES];

const {
  tenantCreated,
  tenantDeleted,
  tenantPurged,
  clientCreated,
  clientRolesChanged,
  clientSecretRotated,
  clientDeleted,
  tokenRevoked,
  identityRolesRestrictionChanged,
} = managementEvents;
const { credentialIssued, userDeleted } = issuanceEvents;
const { customDomainVerified, customDomainWithdrawn } = tenantConfigEvents;
const { webhookSaved, webhookDeleted } = webhooksEvents;
const reading = (name: string, ...events: readonly { readonly subject: string }[]): BusReading => ({
  name,
  subjects: events.map(({ subject }) => subject),
});

/** Destroyed keys leave every cache; for each party with a key vault. */
const KEY_EVICTIONS: BusReading = { name: 'keys.evictions', subjects: [KEYS_DESTROYED_SUBJECT] };

/** What does not follow from operations and events: who reads what from the feed, and what a party tells of itself. */
interface Reads {
  consumes?: readonly BusReading[];
  listens?: readonly BusReading[];
  publishes?: readonly string[];
}

const READS: Readonly<Record<BusParty, Reads>> = {
  gateway: {
    listens: [
      reading(
        'gateway.directory',
        tenantCreated,
        tenantDeleted,
        clientCreated,
        clientRolesChanged,
        clientSecretRotated,
        clientDeleted,
        tokenRevoked,
        identityRolesRestrictionChanged,
        customDomainVerified,
        customDomainWithdrawn,
      ),
    ],
  },
  management: {},
  'tenant-config': { consumes: [reading('tenant-config.deleted-tenants', tenantDeleted)] },
  dids: {
    consumes: [
      reading('dids.linked-domain', customDomainVerified, customDomainWithdrawn),
      reading('dids.forgotten-tenants', tenantPurged),
    ],
  },
  issuance: {
    consumes: [
      reading('issuance.delivery-interest', webhookSaved, webhookDeleted),
      reading('issuance.withdrawn-domains', customDomainVerified, customDomainWithdrawn),
      reading('issuance.forgotten-tenants', tenantPurged),
    ],
  },
  webhooks: {
    consumes: [
      reading(
        'webhooks.deliveries',
        ...[credentialIssued, userDeleted, tenantDeleted],
        ...Object.values(TOLD_EVENTS).map(({ of }) => of),
      ),
      reading('webhooks.forgotten-tenants', tenantPurged),
    ],
  },
  analytics: {
    // The integration events too, though only passed: a query waits for the feed's newest message, whatever it is.
    consumes: [{ name: 'analytics.operations', subjects: [OPERATION_SUBJECTS, 'event.>'] }],
    publishes: [OVERDUE_MARK_SUBJECT],
  },
};

/** Integration events by the service they are named after, which publishes them. */
const EVENTS: readonly IntegrationEventType<unknown>[] = [
  managementEvents,
  tenantConfigEvents,
  didsEvents,
  issuanceEvents,
  webhooksEvents,
].flatMap((group) => Object.values(group));

/** Who may ask for an operation: the gateway for those with an address, the named parties for the others. */
export const callersOf = ({ access }: Operation): readonly BusParty[] =>
  access.kind === 'internal' ? access.callers : ['gateway'];

/** Who writes an operation's events; see Analytics. */
const recorderOf = ({ service, analytics }: Operation): BusParty | undefined =>
  analytics && (analytics.recordedBy === 'service' ? service : 'gateway');

const published = (party: BusParty): string[] => {
  const records = OPERATIONS.some((operation) => recorderOf(operation) === party);
  const events = EVENTS.filter(({ name }) => name.startsWith(`${party}.`));
  return [
    ...events.map(({ subject }) => subject),
    // What stored events were caused by goes with them.
    ...(events.length ? [REQUESTS_COMMITTED_SUBJECT] : []),
    ...(records ? OUTCOMES.map((outcome) => operationSubject(outcome, party)) : []),
    ...(party === 'gateway' ? [] : [KEYS_DESTROYED_SUBJECT]),
    ...(READS[party].publishes ?? []),
  ];
};

/**
 * Who says what on the bus, and who hears it. Operations and integration events follow from their declarations; the rest stands
 * above. A process holds its parties to it whatever the bus is, and the users of a NATS server are made from it (ADR 0019).
 */
export const busRights = (party: BusParty): PartyRights => {
  const served = OPERATIONS.filter(({ service }) => service === party);
  const { consumes = [], listens = [] } = READS[party];
  return {
    name: party,
    serves: served.map(({ subject }) => subject),
    askedBy: [...new Set(served.flatMap(callersOf))],
    asks: OPERATIONS.filter((operation) => callersOf(operation).includes(party)).map(({ subject }) => subject),
    publishes: published(party),
    consumes,
    listens: party === 'gateway' ? listens : [...listens, KEY_EVICTIONS],
  };
};
