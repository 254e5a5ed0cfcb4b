import { Injectable } from '@nestjs/common';
import type { RateClass } from '@attestry/contracts';
import { PlatformConfig, RateCounter } from '@attestry/service-kit';
import { ADDRESSES_OF_NETWORK, networkKeyOf } from './client-address.js';

/** Values of the three `x-ratelimit-*` headers. */
export interface RateState {
  limit: number;
  remaining: number;
  /** Seconds since the epoch at which the window resets. */
  reset: number;
  exceeded: boolean;
}

const WINDOW_SECONDS = 60;

type Limit = readonly [key: string, limit: number];

export interface RateSubject {
  address: string;
  tenantId?: string;
  clientId?: string;
}

/** Statuses of token calls that count as failures of the caller. */
const TOKEN_CALL_FAILURES: ReadonlySet<number> = new Set([400, 401, 413, 415]);
export const isTokenCallFailure = (status: number): boolean => TOKEN_CALL_FAILURES.has(status);

/**
 * Rate limits by class, each per minute. A refused call is counted only against the caller: a call refused by an address's limit is not
 * counted against the tenant, and only calls with the right secret are counted against a client id (ADR 0046).
 */
@Injectable()
export class RateLimits {
  private readonly rates;

  constructor(
    private readonly config: PlatformConfig,
    private readonly counter: RateCounter,
  ) {
    this.rates = config.rates;
  }

  /** Counts one call. With several limits (wallet) the state of the limit with fewer calls left is returned. */
  count(rate: Exclude<RateClass, 'client-token'>, subject: RateSubject): RateState | Promise<RateState> {
    const overrides = subject.tenantId === undefined ? undefined : this.config.rateOverrides[subject.tenantId];
    const limits = overrides ? { ...this.rates, ...overrides } : this.rates;
    switch (rate) {
      case 'api':
        return this.read(`a:${subject.clientId ?? subject.address}`, limits.api);
      case 'public':
        return this.read(`p:${subject.address}`, limits.public);
      case 'wallet': {
        const { tenantId, address } = subject;
        const network = networkKeyOf(address);
        // Each increment is atomic, so that an address or network takes at most its own limit from the tenant's, also with calls at once.
        const each: Limit[] = [[`wa:${tenantId}:${address}`, limits.walletAddress]];
        if (network !== undefined)
          each.push([`wn:${tenantId}:${network}`, ADDRESSES_OF_NETWORK * limits.walletAddress]);
        each.push([`wt:${tenantId}`, limits.walletTenant]);
        return this.countEach(each);
      }
    }
  }

  /** Public calls of an address; counts nothing. */
  publicCalls(address: string): RateState | Promise<RateState> {
    return this.read(`p:${address}`, this.rates.public, false);
  }

  /** Failed token calls of an address and of its network; counts nothing. */
  tokenFailures(address: string): Promise<RateState> {
    return this.failures(address, (key, limit) => this.read(key, limit, false));
  }

  /** Counts a failed token call of an address. */
  countTokenFailure(address: string): Promise<RateState> {
    return this.failures(address, (key, limit) => this.read(key, limit));
  }

  /** Token calls of a client id that had the right secret; counts nothing. */
  tokenCalls(clientId: string): RateState | Promise<RateState> {
    return this.read(`t:${clientId}`, this.config.rateClientToken, false);
  }

  /** Counts a token call that had the right secret. */
  countTokenCall(clientId: string): RateState | Promise<RateState> {
    return this.read(`t:${clientId}`, this.config.rateClientToken);
  }

  /** For responses that are never refused (health): the limit of public documents, not counted. */
  untouched(): RateState {
    const { ratePublic: limit } = this.config;
    return { limit, remaining: limit, reset: Math.ceil(Date.now() / 1000) + WINDOW_SECONDS, exceeded: false };
  }

  private async failures(
    address: string,
    read: (key: string, limit: number) => RateState | Promise<RateState>,
  ): Promise<RateState> {
    const network = networkKeyOf(address);
    const [own, all] = await Promise.all([
      read(`f:${address}`, this.config.rateClientTokenFailures),
      network === undefined ? undefined : read(`f48:${network}`, this.config.rateClientTokenFailures48),
    ]);
    return all ? nearest(own, all) : own;
  }

  /** Counts against one limit after the other, up to the first that is exceeded. */
  private countEach(limits: readonly Limit[], at = 0, before?: RateState): RateState | Promise<RateState> {
    const [key, limit] = limits[at]!;
    return after(this.read(key, limit), (own) => {
      const state = before ? nearest(before, own) : own;
      return own.exceeded || at === limits.length - 1 ? state : this.countEach(limits, at + 1, state);
    });
  }

  /** Without counting, it refuses from the limit on: the next call would be one too many. */
  private read(key: string, limit: number, counts = true): RateState | Promise<RateState> {
    return after(counts ? this.counter.count(key) : this.counter.peek(key), ({ used, resetsInMs }) => ({
      limit,
      remaining: Math.max(0, limit - used),
      reset: Math.ceil((Date.now() + resetsInMs) / 1000),
      exceeded: counts ? used > limit : used >= limit,
    }));
  }
}

/** Waits only where a server counts. */
const after = <T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> =>
  value instanceof Promise ? value.then(next) : next(value);

/** The exceeded one, or the one with fewer calls left. */
const nearest = (one: RateState, other: RateState): RateState => {
  if (one.exceeded !== other.exceeded) return one.exceeded ? one : other;
  return other.remaining < one.remaining ? other : one;
};
