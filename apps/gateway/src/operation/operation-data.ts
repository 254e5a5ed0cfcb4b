import { Inject, Injectable } from '@nestjs/common';
import {
  loggedAnswer,
  loggedRequest,
  sealData,
  type LoggedData,
  type Operation,
  type OperationContext,
  type OperationRequest,
} from '@attestry/contracts';
import { LOGGER, PlatformConfig, requestFields, ServiceClient, type Logger } from '@attestry/service-kit';

/**
 * Request and response of a call, as far as the tenant's logging level allows, sealed by analytics: the gateway has no keys. Nothing is
 * sealed at level 1; a call continues without its data when they cannot be sealed.
 */
@Injectable()
export class OperationData {
  constructor(
    private readonly services: ServiceClient,
    private readonly config: PlatformConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  ofRequest(
    operation: Operation,
    context: OperationContext,
    request: OperationRequest,
  ): Promise<string | undefined> | undefined {
    return this.sealed(context, (level) => loggedRequest(operation, level, request));
  }

  ofAnswer(
    operation: Operation,
    context: OperationContext,
    request: OperationRequest,
    answer: unknown,
  ): Promise<string | undefined> | undefined {
    return this.sealed(context, (level) => loggedAnswer(operation, level, request, answer));
  }

  private sealed(
    context: OperationContext,
    pick: (level: 2 | 3) => LoggedData | undefined,
  ): Promise<string | undefined> | undefined {
    const tenantId = context.tenant?.id;
    const level = tenantId === undefined ? 1 : (this.config.loggingLevels[tenantId] ?? 1);
    return tenantId === undefined || level === 1 ? undefined : this.seal(context, tenantId, () => pick(level));
  }

  private async seal(
    context: OperationContext,
    tenantId: string,
    pick: () => LoggedData | undefined,
  ): Promise<string | undefined> {
    try {
      const data = pick();
      if (!data) return undefined;
      const { data: text } = await this.services.call(sealData, { body: { tenantId, ...data } as never }, context);
      return text;
    } catch (error) {
      this.logger.warn({ ...requestFields(context), error: String(error) }, 'operation event data not stored');
      return undefined;
    }
  }
}
