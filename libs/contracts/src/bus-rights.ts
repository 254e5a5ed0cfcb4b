import { KEYS_DESTROYED_SUBJECT } from './integration-event.js';
import * as issuanceEvents from './issuance/issuance.integration-events.js';
import * as managementEvents from './management/management.integration-events.js';
import { OPERATION_SUBJECTS } from './operation-event.js';
import { RECORD_KINDS, recordSubject } from './operation-record.js';
import { isRecordedByGateway } from './record-of-call.js';
import type { Operation } from './operation.js';
import { INTEGRATION_EVENTS, OPERATIONS } from './registry.js';
import { PARTICIPANTS, type BusParticipant } from './services.js';
import * as tenantConfigEvents from './tenant-config/tenant-config.integration-events.js';
import { WEBHOOK_EVENT_SOURCES } from './webhooks/webhook-events.js';
import * as webhooksEvents from './webhooks/webhooks.integration-events.js';

/** Subjects of the feed that a durable consumer or a listener reads. */
export interface BusReading {
  /** `<participant>.<purpose>`; permanent for durable consumers. */
  readonly name: string;
  readonly subjects: readonly string[];
}

/** All rights of one participant of the bus; see BusRights in libs/messaging. */
export interface ParticipantRights {
  readonly name: BusParticipant;
  readonly serves: readonly string[];
  readonly calledBy: readonly BusParticipant[];
  readonly calls: readonly string[];
  readonly publishes: readonly string[];
  readonly consumes: readonly BusReading[];
  readonly listens: readonly BusReading[];
  /** Subjects read by the previous release, which runs beside this one during an upgrade. */
  readonly formerReads: readonly (readonly string[])[];
}

export const BUS_PARTICIPANTS = Object.keys(PARTICIPANTS) as readonly BusParticipant[];

const {
  tenantCreated,
  tenantDeleted,
  tenantPurged,
  tenantRenamed,
  clientCreated,
  clientRolesChanged,
  clientSecretRotated,
  clientDeleted,
  tokenRevoked,
  identityRolesRestrictionChanged,
} = managementEvents;
const { credentialIssued, userDeleted } = issuanceEvents;
const { customDomainVerified, customDomainWithdrawn, issuerDomainVerified } = tenantConfigEvents;
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
  formerReads?: readonly (readonly string[])[];
  publishes?: readonly string[];
}

const READS: Readonly<Partial<Record<BusParticipant, Reads>>> = {
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
        tenantRenamed,
      ),
      // On its own: a filter is one prefix, and that of both would be all integration events (ADR 0019).
      reading('gateway.custom-domains', customDomainVerified, customDomainWithdrawn),
    ],
  },
  'tenant-config': {
    consumes: [
      reading('tenant-config.deleted-tenants', tenantDeleted),
      reading('tenant-config.purged-tenants', tenantPurged),
    ],
  },
  dids: {
    consumes: [
      reading('dids.linked-domain', customDomainVerified, customDomainWithdrawn),
      reading('dids.purged-tenants', tenantPurged),
    ],
  },
  issuance: {
    consumes: [
      reading('issuance.delivery-interest', webhookSaved, webhookDeleted),
      reading('issuance.withdrawn-domains', customDomainVerified, customDomainWithdrawn),
      reading('issuance.issuer-domains', issuerDomainVerified),
      reading('issuance.domain-signers', customDomainVerified),
      reading('issuance.purged-tenants', tenantPurged),
    ],
  },
  webhooks: {
    consumes: [
      reading(
        'webhooks.deliveries',
        ...[credentialIssued, userDeleted, tenantDeleted],
        ...Object.values(WEBHOOK_EVENT_SOURCES).map(({ integrationEvent }) => integrationEvent),
      ),
      reading('webhooks.purged-tenants', tenantPurged),
    ],
  },
  analytics: {
    // Includes integration events, which are skipped: a query waits for the newest message of the feed of any kind.
    consumes: [{ name: 'analytics.operations', subjects: [OPERATION_SUBJECTS, 'event.>'] }],
  },
};

/** Subjects of the durable consumer or listener of that name. @throws Error for an undeclared name */
export const subjectsReadBy = (name: string): readonly string[] => {
  const readings = Object.values(READS).flatMap(({ consumes = [], listens = [] }) => [...consumes, ...listens]);
  const found = readings.find((one) => one.name === name);
  if (!found) throw new Error(`${name} is not among the declared reads of the feed`);
  return found.subjects;
};

/** Callers of an operation: the gateway for operations over HTTP, the declared participants for the others. */
export const callersOf = ({ access }: Operation): readonly BusParticipant[] =>
  access.kind === 'internal' ? access.callers : ['gateway'];

/** Participants that record calls of an operation: the gateway, and its service for commands that append no event. */
const recordersOf = (operation: Operation): readonly BusParticipant[] => {
  if (!operation.analytics) return [];
  return isRecordedByGateway(operation) ? ['gateway', operation.service] : [operation.service];
};

const published = (participant: BusParticipant): string[] => {
  const records = OPERATIONS.some((operation) => recordersOf(operation).includes(participant));
  const events = INTEGRATION_EVENTS.filter(({ name }) => name.startsWith(`${participant}.`));
  return [
    ...events.map(({ subject }) => subject),
    ...(records ? RECORD_KINDS.map((kind) => recordSubject(kind, participant)) : []),
    ...(participant === 'gateway' ? [] : [KEYS_DESTROYED_SUBJECT]),
    ...(READS[participant]?.publishes ?? []),
  ];
};

/**
 * Rights on the bus. Those of operations and integration events derive from their declarations, the rest is listed
 * above. Each process enforces them on every bus, and the users of a NATS server are generated from them (ADR 0019).
 */
export const busRights = (participant: BusParticipant): ParticipantRights => {
  const served = OPERATIONS.filter(({ service }) => service === participant);
  const { consumes = [], listens = [], formerReads = [] } = READS[participant] ?? {};
  return {
    name: participant,
    serves: served.map(({ subject }) => subject),
    calledBy: [...new Set(served.flatMap(callersOf))],
    calls: OPERATIONS.filter((operation) => callersOf(operation).includes(participant)).map(({ subject }) => subject),
    publishes: published(participant),
    consumes,
    listens: participant === 'gateway' ? listens : [...listens, KEY_EVICTIONS],
    formerReads,
  };
};
