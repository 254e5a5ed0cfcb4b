import { listEvents, type AnalyticsEvent, type PageOf } from '@attestry/contracts';
import { expectStatus, waitUntil, type ApiClient } from '@attestry/testing';

/** Types of the operation events of a call, newest first, once its outcome is among them. */
export const waitForPair = (trail: ApiClient, requestId: string): Promise<string[]> =>
  waitUntil(
    async () => {
      const answer = await trail.call<PageOf<AnalyticsEvent>>(listEvents, { query: { requestIds: requestId } });
      const types = expectStatus(answer, 200).data.map(({ type }) => type);
      return types.length > 1 && types;
    },
    { what: `the events of ${requestId}` },
  );
