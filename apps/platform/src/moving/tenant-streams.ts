import type { EventStore, RecordedEvent } from '@attestry/event-store';

/**
 * Whether a stream belongs to a tenant. Nearly every stream has its tenant's id in its name; the others (claims of subdomains) belong to
 * the tenant of their last event, as a claim may have been taken over.
 */
export const belongsTo =
  (tenantId: string, source: EventStore) =>
  async ({ stream, metadata }: RecordedEvent): Promise<boolean> => {
    const id = stream.slice(stream.indexOf('-') + 1);
    const named = (tenant: string) => id === tenant || id.startsWith(`${tenant}+`);
    if (named(tenantId)) return true;
    if (named(metadata.tenantId)) return false;
    const [last] = await source.readStream(stream, { direction: 'backwards', limit: 1 });
    return last?.metadata.tenantId === tenantId;
  };
