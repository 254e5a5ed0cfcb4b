import { KEYS_DESTROYED_SUBJECT } from './integration-event.js';
import * as issuanceEvents from './issuance/issuance.events.js';
import * as managementEvents from './management/management.events.js';
import {
  OPERATION_SUBJECTS,
  operationSubject,
  OUTCOMES,
  OVERDUE_MARK_SUBJECT,
  REQUESTS_COMMITTED_SUBJECT,
} from './operation-event.js';
import type { Operation } from './operation.js';
import { INTEGRATION_EVENTS, OPERATIONS } from './registry.js';
import { PARTICIPANTS, type BusParty } from './services.js';
import * as tenantConfigEvents from './tenant-config/tenant-config.events.js';
import { TOLD_EVENTS } from './webhooks/told-events.js';
import * as webhooksEvents from './webhooks/webhooks.events.js';

/** Subjects of the feed that a durable consumer or a listener reads. */
export interface BusReading {
  /** `<participant>.<purpose>`; permanent for durable consumers. */
  readonly name: string;
  readonly subjects: readonly string[];
}

/** All rights of one participant of the bus; see BusRights in libs/messaging. */
export interface PartyRights {
  readonly name: BusParty;
  readonly serves: readonly string[];
  readonly askedBy: readonly BusParty[];
  readonly asks: readonly string[];
  readonly publishes: readonly string[];
  readonly consumes: readonly BusReading[];
  readonly listens: readonly BusReading[];
}

export const BUS_PARTIES = Object.keys(PARTICIPANTS) as readonly BusParty[];

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

/** Evicts destroyed keys from caches; for each participant with a key vault. */
const KEY_EVICTIONS: BusReading = { name: 'keys.evictions', subjects: [KEYS_DESTROYED_SUBJECT] };

/** Rights that cannot be derived from operations and events: reads of the feed and further subjects to publish to. */
interface Reads {
  consumes?: readonly BusReading[];
  listens?: readonly BusReading[];
  publishes?: readonly string[];
}

const READS: Readonly<Partial<Record<BusParty, Reads>>> = {
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
    // Includes integration events, which are skipped: a query waits for the newest message of the feed of any kind.
    consumes: [{ name: 'analytics.operations', subjects: [OPERATION_SUBJECTS, 'event.>'] }],
    publishes: [OVERDUE_MARK_SUBJECT],
  },
};

/** Callers of an operation: the gateway for operations over HTTP, the declared participants for the others. */
export const callersOf = ({ access }: Operation): readonly BusParty[] =>
  access.kind === 'internal' ? access.callers : ['gateway'];

/** Participant that records an operation's events; see Analytics. */
const recorderOf = ({ service, analytics }: Operation): BusParty | undefined =>
  analytics && (analytics.recordedBy === 'service' ? service : 'gateway');

const published = (party: BusParty): string[] => {
  const records = OPERATIONS.some((operation) => recorderOf(operation) === party);
  const events = INTEGRATION_EVENTS.filter(({ name }) => name.startsWith(`${party}.`));
  return [
    ...events.map(({ subject }) => subject),
    // The requests that caused the stored events are published with them.
    ...(events.length ? [REQUESTS_COMMITTED_SUBJECT] : []),
    ...(records ? OUTCOMES.map((outcome) => operationSubject(outcome, party)) : []),
    ...(party === 'gateway' ? [] : [KEYS_DESTROYED_SUBJECT]),
    ...(READS[party]?.publishes ?? []),
  ];
};

/**
 * Rights on the bus. Those of operations and integration events derive from their declarations, the rest is listed
 * above. Each process enforces them on every bus, and the users of a NATS server are generated from them (ADR 0019).
 */
export const busRights = (party: BusParty): PartyRights => {
  const served = OPERATIONS.filter(({ service }) => service === party);
  const { consumes = [], listens = [] } = READS[party] ?? {};
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
