import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import canonicalize from 'canonicalize';
import {
  actorOf,
  AppError,
  IDEMPOTENCY_KEY,
  invalid,
  IDEMPOTENCY_TTL_MS,
  unavailable,
  type IdempotentCall,
  type ErrorDetail,
  type Operation,
  type OperationContext,
  type OperationRequest,
} from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { isErased, newId, PLATFORM, type ExpiringState } from '@attestry/keys';
import { requestFields, type Logger } from '../process/logger.js';
import { seededBytes } from './deterministic-values.js';
import { isRefusal } from './refusal.js';

/** The record of a call, sealed. */
interface StoredCall {
  attempt: string;
  beganAt: string;
  /** Seed of ids and secrets: 256 bits, base64url. */
  seed: string;
  /** Digest of the request, under the seed: a guessed body cannot be verified against it. */
  fingerprint: string;
  /** RFC 3339. While an attempt is in progress; after it another one takes over. */
  busyUntil: string;
  answer?: { value?: unknown };
}

/** After its deadline an attempt has returned 503; its later appends conflict by expected revisions. */
const GRACE_MS = 1000;
/** Unauthenticated requests of wallets are expiring state too: what has expired must not fill the store. */
const SWEEP_MS = 60_000;
const MOST_TRIES = 5;

const fault = (msg: string): ErrorDetail => ({ msg, param: 'Idempotency-Key', location: 'headers' });
/** @throws 400 for an invalid key */
export const checkIdempotencyKey = (key: string): void => {
  if (!IDEMPOTENCY_KEY.test(key)) throw invalid(fault('must be 1 to 255 visible ASCII characters'));
};
const underWay = (seconds: number) =>
  new AppError('conflict', 'The first call with this Idempotency-Key is still in progress', {
    details: [fault('belongs to a call that is still in progress')],
    headers: { 'retry-after': String(seconds) },
  });
const otherRequest = () =>
  new AppError('unprocessable', 'This Idempotency-Key was used for another request', {
    details: [fault('was used for another request')],
  });

/**
 * Runs calls with an `Idempotency-Key` (ADR 0036). The inputs of a deterministic result are durable before the first effect: the id by
 * which its events are found again, and the seed of its ids and secrets. An interrupted attempt is simply run again; a returned result is
 * returned again. A refusal changed nothing and is deleted.
 */
export class IdempotentCalls {
  private sweeping: NodeJS.Timeout | undefined;

  constructor(
    private readonly state: ExpiringState,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Deletes expired records, now and every minute. */
  start(): void {
    const sweep = () =>
      void this.state
        .deleteExpired(this.clock.now())
        .catch((error: unknown) =>
          this.logger.warn({ error: String(error) }, 'expired idempotency records not removed'),
        );
    sweep();
    this.sweeping = setInterval(sweep, SWEEP_MS).unref();
  }

  close(): void {
    clearInterval(this.sweeping);
  }

  /**
   * @param execute one attempt of the call
   * @param mayRepeat throws for a caller that may no longer receive the first result
   * @throws AppError 400 for an invalid key, 409 while another attempt is in progress, 422 for another request
   */
  async runIdempotently(
    operation: Operation,
    request: OperationRequest,
    context: OperationContext,
    execute: (context: OperationContext) => Promise<unknown>,
    authorizeReplay?: () => Promise<unknown>,
  ): Promise<unknown> {
    checkIdempotencyKey(context.idempotencyKey!);
    const owner = context.tenant?.id ?? PLATFORM;
    const name = nameOf(operation, request, context);
    for (let tries = 1; tries <= MOST_TRIES; tries++) {
      const found = await this.state.read(owner, name);
      if (isErased(found)) break;
      const now = this.clock.now().getTime();
      const known = found && found.expiresAt > now ? (JSON.parse(found.text) as StoredCall) : undefined;
      if (known) {
        if (!isSame(fingerprintOf(request, known.seed), known.fingerprint)) throw otherRequest();
        if (known.answer) {
          await authorizeReplay?.();
          return known.answer.value;
        }
        const wait = Date.parse(known.busyUntil) - now;
        if (wait > 0) throw underWay(Math.ceil(wait / 1000));
      }
      const busyUntil = new Date(now + Math.max(0, context.deadline - Date.now()) + GRACE_MS).toISOString();
      const call: StoredCall = { ...(known ?? newCall(request, now)), busyUntil };
      const expiresAt = Date.parse(call.beganAt) + IDEMPOTENCY_TTL_MS;
      const version = await this.state.write(owner, name, JSON.stringify(call), {
        after: found?.version,
        expiresAt,
      });
      // Another process was first: its record is read in the next round.
      if (version === undefined) continue;
      const idempotentCall: IdempotentCall = {
        id: call.attempt,
        beganAt: call.beganAt,
        resumed: known !== undefined,
        bytes: seededBytes(Buffer.from(call.seed, 'base64url')),
      };
      const record = { owner, name, version, expiresAt };
      try {
        const value = await execute({ ...context, idempotentCall });
        await this.settle(context, () =>
          this.write(record, { ...call, answer: { ...(value !== undefined && { value }) } }),
        );
        return value;
      } catch (error) {
        // An attempt that took over may have found events of an earlier one: then the record is kept.
        if (isRefusal(error) && !idempotentCall.resumed)
          await this.settle(context, () => this.state.delete(owner, name, version));
        else await this.settle(context, () => this.write(record, { ...call, busyUntil: new Date(0).toISOString() }));
        throw error;
      }
    }
    throw unavailable('Service temporarily unavailable', new Error('calls with one Idempotency-Key kept colliding'));
  }

  private async write(
    { owner, name, version, expiresAt }: { owner: string; name: string; version: string; expiresAt: number },
    call: StoredCall,
  ): Promise<void> {
    await this.state.write(owner, name, JSON.stringify(call), { after: version, expiresAt });
  }

  /** If this fails, the effect stays: the next call finds the attempt interrupted, and runs again to the same result. */
  private async settle(context: OperationContext, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.warn({ ...requestFields(context), error: String(error) }, 'outcome of an idempotent call not stored');
    }
  }
}

/** Caller, tenant, operation and key; none can be read from it. */
const nameOf = (operation: Operation, { params }: OperationRequest, context: OperationContext): string => {
  const { tenantId } = params as { tenantId?: unknown };
  const parts = [operation.name, actorOf(context.caller), tenantId ?? null, context.idempotencyKey];
  return `call ${hash('sha256', JSON.stringify(parts), 'base64url')}`;
};

const newCall = (request: OperationRequest, now: number): Omit<StoredCall, 'busyUntil'> => {
  const seed = randomBytes(32).toString('base64url');
  return { attempt: newId(), beganAt: new Date(now).toISOString(), seed, fingerprint: fingerprintOf(request, seed) };
};

const fingerprintOf = ({ params, query, body, raw }: OperationRequest, seed: string): string =>
  createHmac('sha256', Buffer.from(seed, 'base64url'))
    .update(`request:${canonicalize({ params, query, body, ...(raw && { text: raw.text }) })}`)
    .digest('base64url');

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
