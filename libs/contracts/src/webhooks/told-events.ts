import { didCreated } from '../dids/dids.events.js';
import type { IntegrationEventType } from '../integration-event.js';
import { customDomainDeletedInUse } from '../issuance/issuance.events.js';
import { clientCreated, memberInvited } from '../management/management.events.js';
import { customDomainVerified } from '../tenant-config/tenant-config.events.js';

/** An integration event that webhooks tell of, and which of its members. */
export interface ToldEvent {
  readonly of: IntegrationEventType<unknown>;
  readonly members: readonly string[];
}

/** Members are named one by one: what is added to the fact later is told to nobody before somebody has looked at it. */
const told = <Data extends { tenantId: string }>(
  of: IntegrationEventType<Data>,
  ...members: Exclude<keyof Data & string, 'tenantId'>[]
): ToldEvent => ({ of, members });

const NAMES = [
  'DidCreated',
  'TenantClientCreated',
  'CustomDomainVerified',
  'CustomDomainDeletedInUse',
  'TenantMemberInvited',
] as const;
export type ToldEventName = (typeof NAMES)[number];

/**
 * What a webhook can subscribe to beside issued credentials. A name above and a line here are all that a further one needs:
 * the fact it follows from, and its payload: ids and words, never a personal value.
 */
export const TOLD_EVENTS: Readonly<Record<ToldEventName, ToldEvent>> = {
  DidCreated: told(didCreated, 'did', 'method'),
  TenantClientCreated: told(clientCreated, 'clientId', 'roles'),
  CustomDomainVerified: told(customDomainVerified, 'domain'),
  CustomDomainDeletedInUse: told(customDomainDeletedInUse, 'domain', 'activeConfigurations'),
  TenantMemberInvited: told(memberInvited, 'userId', 'roles', 'status', 'inviteExpiresAt'),
};

/** Names of the events of webhooks that follow from a subject of the feed. */
export const toldBy = (subject: string): ToldEventName[] =>
  NAMES.filter((name) => TOLD_EVENTS[name].of.subject === subject);

/** The members that are told, in the order of the declaration. */
export const toldPayload = (name: ToldEventName, data: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(TOLD_EVENTS[name].members.map((member) => [member, (data as Record<string, unknown>)[member]]));
