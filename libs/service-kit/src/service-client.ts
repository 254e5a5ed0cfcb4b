import { AppError, unavailable, type Operation, type OperationContext, type WireAppError } from '@attestry/contracts';
import { MessageBus, RequestFailed } from '@attestry/messaging';
import type { RequestOf, ResponseOf } from './endpoints.js';
import { contextToHeaders } from './operation-headers.js';

/** How one service calls an operation of another: by its declaration, over the bus. */
export class ServiceClient {
  constructor(private readonly bus: MessageBus) {}

  /** @throws AppError as the other service threw it, or 503 when nobody answered in time. Never re-sent. */
  async call<O extends Operation>(
    operation: O,
    request: Partial<RequestOf<O>>,
    context: OperationContext,
  ): Promise<ResponseOf<O>> {
    try {
      const reply = await this.bus.request<ResponseOf<O>>(
        operation.subject,
        { body: {}, params: {}, query: {}, ...(request as object) },
        { headers: contextToHeaders(context), timeoutMs: Math.max(1, context.deadline - Date.now()) },
      );
      if (reply.ok) return reply.data;
      throw AppError.fromWire(reply.error as WireAppError);
    } catch (error) {
      if (error instanceof RequestFailed) throw unavailable('Service temporarily unavailable', error);
      throw error;
    }
  }
}
