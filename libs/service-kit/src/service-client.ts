import {
  AppError,
  unavailable,
  type BusParty,
  type CallContext,
  type ContextOf,
  type Operation,
  type OperationContext,
  type WireAppError,
} from '@attestry/contracts';
import { MessageBus, RequestFailed } from '@attestry/messaging';
import type { RequestOf, ResponseOf } from './use-case.js';
import { contextToHeaders } from './operation-headers.js';

/** What a caller hands over: between services, the service that calls is the caller. */
export type CallContextOf<O extends Operation> = O extends { access: { kind: 'internal' } }
  ? Omit<ContextOf<O>, 'caller'>
  : ContextOf<O>;

/**
 * How one party calls an operation of another: by its declaration, over the bus. The gateway speaks for the callers it knows; a
 * service speaks for itself, whoever made it call: nothing else would be believed.
 */
export class ServiceClient {
  constructor(
    private readonly bus: MessageBus,
    private readonly party: BusParty,
  ) {}

  /** @throws AppError as the other service threw it, or 503 when nobody answered in time. Never re-sent. */
  async call<O extends Operation>(
    operation: O,
    request: Partial<RequestOf<O>>,
    context: CallContextOf<O>,
  ): Promise<ResponseOf<O>> {
    try {
      const reply = await this.bus.request<ResponseOf<O>>(
        operation.subject,
        { body: {}, params: {}, query: {}, ...(request as object) },
        {
          headers: contextToHeaders(operation, this.contextFor(operation, context)),
          timeoutMs: Math.max(1, context.deadline - Date.now()),
          from: this.party,
        },
      );
      if (reply.ok) return reply.data;
      throw AppError.fromWire(reply.error as WireAppError);
    } catch (error) {
      if (error instanceof RequestFailed) throw unavailable('Service temporarily unavailable', error);
      throw error;
    }
  }

  private contextFor(operation: Operation, context: CallContext): OperationContext {
    if (operation.access.kind !== 'internal') return context as OperationContext;
    return { ...context, caller: { kind: 'service', service: this.party } };
  }
}
