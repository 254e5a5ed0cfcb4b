import { Injectable } from '@nestjs/common';
import {
  AnswerTooLarge,
  DnsBudgetExceeded,
  Outbound,
  TargetRefused,
  type OutboundAnswer,
  type OutboundRequest,
} from '@attestry/service-kit';
import { SOURCE_MS, SourceFailed } from './source-exchange.js';

/** Exchanges with sources and their token endpoints through the guarded client. Redirects are not followed. */
@Injectable()
export class GuardedExchange {
  constructor(private readonly outbound: Outbound) {}

  /** @throws SourceFailed */
  async send(
    tenantId: string,
    { url, ...request }: { url: string } & Pick<OutboundRequest, 'method' | 'headers' | 'body'>,
    maxBytes: number,
  ): Promise<OutboundAnswer> {
    try {
      return await this.outbound.send(url, { ...request, tenantId, timeoutMs: SOURCE_MS, maxBytes });
    } catch (error) {
      throw new SourceFailed(reasonOf(error, maxBytes));
    }
  }
}

/** Text for the platform's own limits; any other error is shown only by its code. */
const reasonOf = (error: unknown, maxBytes: number): string => {
  if (error instanceof AnswerTooLarge) return `the answer has more than ${maxBytes} bytes`;
  if (error instanceof TargetRefused) return 'the address is not public';
  if (error instanceof DnsBudgetExceeded) return 'the DNS look-ups of the tenant took too long';
  const { name, code } = error as { name?: unknown; code?: unknown };
  if (name === 'TimeoutError') return `there was no answer within ${SOURCE_MS / 1000} seconds`;
  return typeof code === 'string' ? `the connection failed: ${code}` : 'the connection failed';
};
