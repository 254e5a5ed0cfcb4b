import { Injectable } from '@nestjs/common';
import { Budgets, type Budget } from '@attestry/service-kit';
import { urlKey } from '../webhook-slots/webhook-slots.decisions.js';

const MINUTE_MS = 60_000;
/** Tests of one webhook, and of all webhooks of a tenant with one URL: a webhook that is deleted and created again has no new budget. */
export const TESTS_PER_MINUTE = 10;
/** Tests and repeated deliveries of a tenant to one origin, whatever the rest of the URL. */
export const REQUESTS_PER_MINUTE = 60;

/** How many requests callers may make the platform send to a third party (ADR 0049). */
@Injectable()
export class WebhookRequests {
  constructor(private readonly budgets: Budgets) {}

  /**
   * @param id of the use: a retried call counts once
   * @throws AppError 429 with `Retry-After`
   */
  async test<Result>(
    id: string,
    { tenantId, webhookId, url }: { tenantId: string; webhookId: string; url: string },
    work: () => Promise<Result>,
  ): Promise<Result> {
    const tests = {
      name: 'webhook-tests',
      owner: tenantId,
      limit: TESTS_PER_MINUTE,
      windowMs: MINUTE_MS,
      message: `At most ${TESTS_PER_MINUTE} tests a minute are allowed for one webhook, and for all webhooks of a tenant with the same URL together`,
    } as const;
    const budgets: Budget[] = [
      { ...tests, key: webhookId },
      { ...tests, key: JSON.stringify([tenantId, urlKey(url)]) },
      ofOrigin(tenantId, url),
    ];
    return this.budgets.useFor(id, budgets, work);
  }

  /**
   * @param id of the use: a retried call counts once
   * @throws AppError 429 with `Retry-After`
   */
  async redeliver<Result>(
    id: string,
    { tenantId, url }: { tenantId: string; url: string },
    work: () => Promise<Result>,
  ): Promise<Result> {
    return this.budgets.useFor(id, [ofOrigin(tenantId, url)], work);
  }
}

const ofOrigin = (tenantId: string, url: string): Budget => ({
  name: 'webhook-requests',
  owner: tenantId,
  key: JSON.stringify([tenantId, new URL(url).origin]),
  limit: REQUESTS_PER_MINUTE,
  windowMs: MINUTE_MS,
  message: `At most ${REQUESTS_PER_MINUTE} tests and redeliveries a minute are sent to one origin`,
});
