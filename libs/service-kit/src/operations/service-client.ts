import {
  AppError,
  busRights,
  unavailable,
  type BusParticipant,
  type CallContext,
  type ContextOf,
  type Operation,
  type OperationContext,
  type OperationRequest,
  type WireAppError,
} from '@attestry/contracts';
import { MessageBus, NotPermitted, RequestFailed, type Reply } from '@attestry/messaging';
import { frozenData } from '../shapes/frozen-data.js';
import type { LocalOperations } from './local-operations.js';
import { contextToHeaders } from './operation-headers.js';
import type { RequestOf, ResponseOf } from './use-case.js';

/** The caller's part of the context: between services, the calling service is the caller. */
export type CallContextOf<O extends Operation> = O extends { access: { kind: 'internal' } }
  ? Omit<ContextOf<O>, 'caller'>
  : ContextOf<O>;

/**
 * How one participant of the bus calls an operation, by its declaration: by reference where its service is in this process and
 * calls that way, otherwise over the bus. The gateway acts for the callers it has authenticated, a service only for itself
 * (ADR 0019).
 */
export class ServiceClient {
  private readonly calls: ReadonlySet<string>;

  constructor(
    private readonly bus: MessageBus,
    private readonly participant: BusParticipant,
    private readonly localOperations?: LocalOperations,
  ) {
    this.calls = new Set(busRights(participant).calls);
  }

  /**
   * Never sent twice. The request is frozen, and so is what the service returns.
   * @param isChecked the shape of the request was checked in this process
   * @throws AppError as the service threw it, or 503 without a response in time; NotPermitted
   */
  async call<O extends Operation>(
    operation: O,
    request: Partial<RequestOf<O>>,
    context: CallContextOf<O>,
    isChecked = false,
  ): Promise<ResponseOf<O>> {
    const sent = isChecked
      ? (request as OperationRequest)
      : frozenData<OperationRequest>({ body: {}, params: {}, query: {}, ...(request as object) });
    try {
      const own = (
        operation.access.kind === 'internal' ? this.ownContext(operation, context) : context
      ) as OperationContext;
      if (this.localOperations && !this.calls.has(operation.subject))
        throw new NotPermitted(this.participant, 'request', operation.subject);
      const reply = await (this.localOperations?.request(operation, sent, own, this.participant, isChecked) ??
        this.callOverBus(operation, sent, own));
      if (reply.ok) return reply.data as ResponseOf<O>;
      throw AppError.fromWire(reply.error as WireAppError);
    } catch (error) {
      if (error instanceof RequestFailed) throw unavailable('Service temporarily unavailable', error);
      throw error;
    }
  }

  private async callOverBus(
    operation: Operation,
    request: OperationRequest,
    context: OperationContext,
  ): Promise<Reply> {
    const reply = await this.bus.request(operation.subject, request, {
      headers: contextToHeaders(operation, context),
      timeoutMs: Math.max(1, context.deadline - Date.now()),
      from: this.participant,
    });
    return frozenData(reply);
  }

  /** The context for the callee: a service acts for itself and passes on the members that the operation has. */
  private ownContext(operation: Operation, context: CallContext): OperationContext {
    const { requestId, operation: name, deadline, traceparent, tenant } = context as OperationContext;
    return {
      requestId,
      operation: name,
      deadline,
      caller: { kind: 'service', service: this.participant },
      ...(traceparent !== undefined && { traceparent }),
      ...(operation.forTenant && tenant && { tenant }),
    };
  }
}
