import {
  ACCESS_CATEGORY,
  ACCESS_PREFIXES,
  actorIds,
  HTTP_STATUS,
  isUuid,
  listEvents,
  listTenantEvents,
  retrieveTenant,
  type AccessKind,
  type AppError,
  type ManagementContext,
  type Operation,
  type OperationRecordMessage,
  type PageOf,
} from '@attestry/contracts';
import { requestFields } from '@attestry/service-kit';
import type { SentList } from '../operation/stream-pages.js';
import type { Dependencies } from './dependencies.js';
import type { Admitted, Exchange, Identified } from './exchange.js';
import { clientIdOf } from './limit-caller.js';
import { ACCESS_MS } from './record-outcome.js';

type Used = Pick<Dependencies, 'recorder' | 'services' | 'clock' | 'logger'>;
const LOST = 'operation event not recorded';
type Access = Pick<OperationRecordMessage, 'outcome' | 'metadata'>;

const isIdentified = (exchange: Exchange): exchange is Identified =>
  exchange.plan !== undefined && exchange.host !== undefined && exchange.caller !== undefined;

/** Whether it returns entries of the trail in pages. */
export const readsTrail = ({ name }: Operation): boolean => name === listEvents.name || name === listTenantEvents.name;

/**
 * Many in a minute have one record with their number (ADR 0098), so that no caller can fill the trail. An answer does not wait for it, unless
 * too many records wait.
 */
const record = async (
  exchange: Identified,
  { recorder, clock, logger }: Pick<Used, 'recorder' | 'clock' | 'logger'>,
  tenantId: string,
  kind: AccessKind,
  access: Access,
): Promise<void> => {
  const { plan, caller, requestId, startedAt, deadline } = exchange;
  const operation = plan.operation.name;
  const message: OperationRecordMessage = {
    ...{ tenantId, requestId, operation, ...actorIds(caller) },
    ...{ prefix: ACCESS_PREFIXES[kind], category: ACCESS_CATEGORY, object: { type: 'operation', id: operation } },
    ...{ startedAt: new Date(startedAt).toISOString(), endedAt: clock.now().toISOString(), ...access },
  };
  const call = { client: `${caller.kind}:${clientIdOf(caller)}`, check: `${kind} ${access.outcome}` };
  try {
    await recorder.addRepeatable(message, call, deadline);
  } catch (error) {
    logger.error({ ...requestFields({ requestId, operation }), tenantId, error: String(error) }, LOST);
  }
};

/** A 403 of a client of the tenant, or of a member: others have no credentials, or none that the tenant knows. */
export const recordRefusedAccess = async (exchange: Exchange, deps: Used, failure: AppError): Promise<void> => {
  if (failure.kind !== 'forbidden' || !isIdentified(exchange)) return;
  const tenantId = await tenantOf(exchange, deps);
  if (tenantId === undefined) return;
  const { kind, code, message } = failure;
  const metadata = { error: { status: HTTP_STATUS[kind], code, message } };
  await record(exchange, deps, tenantId, 'refused', { outcome: 'FAIL', metadata });
};

/** The tenant that knows the caller. */
const tenantOf = async (exchange: Identified, { services }: Pick<Used, 'services'>): Promise<string | undefined> => {
  const { host, caller, params, context, deadline } = exchange;
  // A member calls the tenant's API (ADR 0127).
  if (caller.kind === 'client' || (caller.kind === 'user' && host.tenant)) return host.tenant?.id;
  const { tenantId: named } = params as { tenantId?: string };
  if ((caller.kind !== 'management' && caller.kind !== 'user') || !context || !isUuid(named)) return undefined;
  const tenantId = named.toLowerCase();
  const { record: _, ...own } = context;
  try {
    const asking = { ...own, deadline: Math.max(deadline, Date.now() + ACCESS_MS) } as ManagementContext;
    await services.call(retrieveTenant, { params: { tenantId } }, asking);
    return tenantId;
  } catch {
    return undefined;
  }
};

/** A page of the trail was read. */
export const recordRead = (exchange: Admitted, deps: Used): void | Promise<void> => {
  const { host, params, result } = exchange;
  const tenantId = host.tenant?.id ?? params['tenantId']?.toLowerCase();
  if (tenantId === undefined) return;
  const metadata = { entriesCount: (result as PageOf<unknown>).data.length };
  return record(exchange, deps, tenantId, 'listed', { outcome: 'SUCCESS', metadata });
};

/** The trail was exported, as a whole or up to where the response ended. */
export const recordExport = (exchange: Admitted, deps: Used, { count, sha256 }: SentList): Promise<void> =>
  record(exchange, deps, exchange.host.tenant!.id, 'exported', {
    outcome: sha256 === undefined ? 'FAIL' : 'SUCCESS',
    metadata: { entriesCount: count, ...(sha256 !== undefined && { contentDigest: `sha-256=:${sha256}:` }) },
  });
