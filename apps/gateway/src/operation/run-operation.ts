import { Inject, Injectable } from '@nestjs/common';
import {
  AppError,
  HTTP_STATUS,
  isUuid,
  unavailable,
  type HttpAnswer,
  type Operation,
  type OperationContext,
  type OperationRequest,
  type PageOf,
} from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { checkRequest, CLOCK, LOGGER, OperationRecorder, ServiceClient, type Logger } from '@attestry/service-kit';
import { OperationData } from './operation-data.js';

/** What a list's START says. */
const startMetadata = ({ query }: { query: unknown }): Record<string, unknown> => {
  const limit = Number((query as { limit?: unknown }).limit);
  return Number.isInteger(limit) ? { limit } : {};
};

/** What SUCCESS says: of a list how many entries it had, otherwise what the service wants recorded. */
const successMetadata = (answer: unknown): Record<string, unknown> => {
  const recorded = (answer as Partial<HttpAnswer> | null | undefined)?.$http?.metadata;
  if (recorded) return recorded;
  const page = answer as { data?: unknown; nextCursor?: string } | null | undefined;
  return Array.isArray(page?.data)
    ? { entriesCount: page.data.length, ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }) }
    : {};
};

/** The tenant a management call was about (see `tenantFrom` of the declaration). */
const aboutTenant = (operation: Operation, request: OperationRequest, answer: unknown): string | undefined => {
  const from = operation.analytics?.tenantFrom;
  const id =
    from === 'params'
      ? (request.params as { tenantId?: unknown }).tenantId
      : from === 'answer'
        ? (answer as { id?: unknown } | null)?.id
        : undefined;
  return isUuid(id) ? id.toLowerCase() : undefined;
};

/** Reads the request; thrown faults count as the operation's own (START and FAIL are recorded). */
export type ReadRequest = () => OperationRequest;

/**
 * START, shape, forward, outcome (architecture, One request). A command's START is acknowledged before it is forwarded and
 * the outcome before the answer (ADR 0004); a command is never sent twice.
 */
@Injectable()
export class RunOperation {
  constructor(
    private readonly services: ServiceClient,
    private readonly recorder: OperationRecorder,
    private readonly data: OperationData,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** @throws AppError */
  async run(operation: Operation, context: OperationContext, read: ReadRequest): Promise<unknown> {
    if (!operation.analytics || operation.analytics.recordedBy === 'service')
      return this.forward(operation, context, checkRequest(operation, read()));

    let request: OperationRequest | undefined;
    let fault: unknown;
    try {
      request = read();
    } catch (error) {
      fault = error;
    }
    const startedAt = this.clock.now().toISOString();
    const asked = request && (await this.data.ofRequest(operation, context, request));
    const started = this.recorder.start(operation, context, request ? startMetadata(request) : {}, asked);
    if (operation.kind === 'command') await this.acknowledged(started);
    else started.catch((error: unknown) => this.lost(context, error));

    let answer: unknown;
    try {
      if (!request) throw fault;
      answer = await this.forward(operation, context, checkRequest(operation, request));
    } catch (error) {
      const failure = this.asAppError(error, context);
      await this.outcome(
        context,
        this.recorder.fail(operation, context, {
          status: HTTP_STATUS[failure.kind],
          code: failure.code,
          message: failure.message,
        }),
      );
      throw failure;
    }
    const tenantId = aboutTenant(operation, request, answer);
    const recorded = (answer as Partial<HttpAnswer> | null | undefined)?.$http;
    const logged = recorded?.metadata ? (recorded.body ?? null) : answer;
    const answered = await this.data.ofAnswer(operation, context, request, logged);
    await this.outcome(
      context,
      this.recorder.success(operation, context, successMetadata(answer), {
        ...(tenantId && { about: { tenantId, startedAt } }),
        ...(answered !== undefined && { data: answered }),
      }),
    );
    return answer;
  }

  /**
   * One page of a list that is sent as a stream; nothing is recorded.
   * @param cursor absent for the first page
   * @throws AppError
   */
  async page(
    operation: Operation,
    context: OperationContext,
    request: OperationRequest,
    cursor: string | undefined,
  ): Promise<PageOf<unknown>> {
    const page = cursor === undefined ? {} : { cursor };
    return (await this.forward(operation, context, checkRequest(operation, { ...request, page }))) as PageOf<unknown>;
  }

  /** @param request checked */
  private forward(operation: Operation, context: OperationContext, request: OperationRequest): Promise<unknown> {
    return this.services.call(operation, request, context, true);
  }

  private async acknowledged(started: Promise<void>): Promise<void> {
    try {
      await started;
    } catch (error) {
      throw unavailable('Service temporarily unavailable', error);
    }
  }

  /** An outcome that cannot be written does not undo what was done: analytics closes the START from the events. */
  private async outcome(context: OperationContext, written: Promise<void>): Promise<void> {
    try {
      await written;
    } catch (error) {
      this.lost(context, error);
    }
  }

  private lost(context: OperationContext, error: unknown): void {
    this.logger.error({ requestId: context.requestId, error: String(error) }, 'operation event not recorded');
  }

  private asAppError(error: unknown, context: OperationContext): AppError {
    if (error instanceof AppError) return error;
    this.logger.error(
      { requestId: context.requestId, error: error instanceof Error ? error.stack : String(error) },
      'gateway failed',
    );
    return new AppError('internal', 'Internal error');
  }
}
