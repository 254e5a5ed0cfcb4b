import { Injectable } from '@nestjs/common';
import { AppError } from '@attestry/contracts';

/** Calls of one source for one user that are in progress at a time: few of the 32 connections that a tenant has to an origin (ADR 0093). */
const CALLS_OF_USER = 2;
/** Longest wait for a slot, milliseconds: with the calls of token endpoint and source it ends before the deadline of the operation. */
const WAIT_MS = 2000;

interface Lane {
  inUse: number;
  /** In order of arrival. */
  waiting: Set<() => void>;
}

/** Slots of users for calls of claims sources: the requests of one wallet leave connections for those of the others. */
@Injectable()
export class SourceSlots {
  private readonly lanes = new Map<string, Lane>();

  /**
   * Makes the call as soon as one of the slots is free; the wait does not count in the time of the call.
   * @throws AppError 429 when none becomes free, or the error of the call
   */
  async run<T>(
    { tenantId, userId, sourceId }: { tenantId: string; userId: string; sourceId: string },
    call: () => Promise<T>,
    waitMs = WAIT_MS,
  ): Promise<T> {
    const key = `${tenantId} ${userId} ${sourceId}`;
    let lane = this.lanes.get(key);
    if (!lane) this.lanes.set(key, (lane = { inUse: 0, waiting: new Set() }));
    if (lane.inUse < CALLS_OF_USER) lane.inUse++;
    else await waitFor(lane, waitMs);
    try {
      return await call();
    } finally {
      const [next] = lane.waiting;
      if (next) next();
      else if (--lane.inUse === 0) this.lanes.delete(key);
    }
  }
}

/** The call that ends passes its slot on. */
const waitFor = ({ waiting }: Lane, waitMs: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const next = () => {
      waiting.delete(next);
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      waiting.delete(next);
      reject(
        new AppError('tooManyRequests', 'Too many credential requests of this user wait for a claims source', {
          headers: { 'retry-after': '1' },
        }),
      );
    }, waitMs);
    waiting.add(next);
  });
