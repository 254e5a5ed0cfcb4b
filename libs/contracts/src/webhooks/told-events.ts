import { didCreated } from '../dids/dids.events.js';
import type { IntegrationEventType } from '../integration-event.js';
import { customDomainDeletedInUse } from '../issuance/issuance.events.js';
import { clientCreated, memberInvited } from '../management/management.events.js';
import { customDomainVerified } from '../tenant-config/tenant-config.events.js';

/** A webhook event: the integration event it derives from and the members of its payload. */
export interface ToldEvent {
  readonly of: IntegrationEventType<unknown>;
  readonly members: readonly string[];
}

/** Members are listed explicitly, so that a member added to the integration event is not published before it is reviewed. */
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
 * Event types a webhook can subscribe to, beside issued credentials. A further one needs a name above and a line here with
 * the integration event it derives from and the members of its payload, which never has personal values.
 */
export const TOLD_EVENTS: Readonly<Record<ToldEventName, ToldEvent>> = {
  DidCreated: told(didCreated, 'did', 'method'),
  TenantClientCreated: told(clientCreated, 'clientId', 'roles'),
  CustomDomainVerified: told(customDomainVerified, 'domain'),
  CustomDomainDeletedInUse: told(customDomainDeletedInUse, 'domain', 'activeConfigurations'),
  TenantMemberInvited: told(memberInvited, 'userId', 'roles', 'status', 'inviteExpiresAt'),
};

/** Webhook events that derive from a subject of the feed. */
export const toldBy = (subject: string): ToldEventName[] =>
  NAMES.filter((name) => TOLD_EVENTS[name].of.subject === subject);

/** The members of the payload, in the order of the declaration. */
export const toldPayload = (name: ToldEventName, data: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(TOLD_EVENTS[name].members.map((member) => [member, (data as Record<string, unknown>)[member]]));
