import type { RecordedEvent, StreamName } from './event-store.js';

/** Their names, `subdomain-<environmentId>+<name>`, begin with something else than a tenant. */
export const CATEGORY_WITHOUT_TENANT = 'subdomain';

/** The tenant in the name of a stream, `<category>-<tenantId>+<id>`; `undefined`: it belongs to the tenants of its events. */
export const tenantInName = (stream: StreamName): string | undefined => {
  const [dash, plus] = [stream.indexOf('-'), stream.indexOf('+')];
  return plus < dash || stream.slice(0, dash).endsWith(CATEGORY_WITHOUT_TENANT)
    ? undefined
    : stream.slice(dash + 1, plus);
};

/** Tenant to which an event belongs. SQLite and PostgreSQL compute the same as the column `tenant_id`. */
export const tenantOf = ({ stream, metadata }: RecordedEvent): string => tenantInName(stream) ?? metadata.tenantId;
