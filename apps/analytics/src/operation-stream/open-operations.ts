import type { OperationEventMessage, RequestsCommitted } from '@attestry/contracts';

/** A START whose outcome is not known yet. */
export interface OpenOperation {
  tenantId: string;
  requestId: string;
  prefix: string;
  category: string;
  operation: string;
  /** Milliseconds since the epoch. */
  deadline: number;
  committed: boolean;
  clientId?: string;
  managementUserId?: string;
}

/** One operation per request and tenant is recorded, so this is a unique key. */
export const openKey = (tenantId: string, requestId: string): string => `${tenantId} ${requestId}`;

/**
 * Decides which messages are recorded: every START gets exactly one outcome (ADR 0004). No I/O; messages in the order of the feed. `seen`
 * recognizes a message that is in the stream already.
 */
export class OpenOperations {
  private readonly open = new Map<string, OpenOperation>();

  constructor(restored: readonly OpenOperation[] = []) {
    for (const operation of restored) this.open.set(openKey(operation.tenantId, operation.requestId), operation);
  }

  get size(): number {
    return this.open.size;
  }

  /** True when the message is to be appended; false for an outcome that came after another. */
  accept(message: OperationEventMessage): boolean {
    const key = openKey(message.tenantId, message.requestId);
    if (message.outcome !== 'START') return this.open.delete(key);
    if (this.open.has(key)) return false;
    const { tenantId, requestId, prefix, category, operation, deadline = 0, clientId, managementUserId } = message;
    this.open.set(key, {
      tenantId,
      requestId,
      prefix,
      category,
      operation,
      deadline,
      committed: false,
      ...(clientId !== undefined && { clientId }),
      ...(managementUserId !== undefined && { managementUserId }),
    });
    return true;
  }

  /** The request's events are stored; returns the operation when it is open and this was not known before. */
  commit(request: RequestsCommitted['requests'][number]): OpenOperation | undefined {
    const operation = this.open.get(openKey(request.tenantId, request.requestId));
    if (!operation || operation.committed || operation.operation !== request.operation) return undefined;
    operation.committed = true;
    return operation;
  }

  /** Operations whose outcome is overdue. */
  overdue(now: number): OpenOperation[] {
    return [...this.open.values()].filter(({ deadline }) => deadline < now);
  }

  close(operation: OpenOperation): void {
    this.open.delete(openKey(operation.tenantId, operation.requestId));
  }
}
