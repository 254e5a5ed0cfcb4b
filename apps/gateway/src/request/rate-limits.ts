import { Injectable } from '@nestjs/common';
import type { RateClass } from '@attestry/contracts';
import { PlatformConfig, RateCounter, type Counted } from '@attestry/service-kit';
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
/** Pushed authorization requests, which are stored without credentials, may take one in so many of the wallet calls. */
const PUSH_PART = 4;

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
        return this.stateOf(this.counter.count(`a:${subject.clientId ?? subject.address}`), limits.api);
      case 'public':
        return this.stateOf(this.counter.count(`p:${subject.address}`), limits.public);
      case 'wallet':
        return this.countEach(walletLimits('w', subject, limits));
      // A tenant whose pushes are used up can still exchange codes.
      case 'push':
        return this.countEach(
          lastOfTenant(
            walletLimits('q', subject, {
              walletAddress: Math.ceil(limits.walletAddress / PUSH_PART),
              walletTenant: Math.ceil(limits.walletTenant / PUSH_PART),
            }),
            walletLimits('w', subject, limits),
          ),
        );
    }
  }

  /** Further public calls of an address, for a long answer: refused where the limit was exceeded without them. */
  countMore(address: string, calls: number): RateState | Promise<RateState> {
    const limit = this.rates.public;
    const stateOf = (counted: Counted): RateState => ({
      ...(this.stateOf(counted, limit) as RateState),
      exceeded: counted.used - calls > limit,
    });
    const counted = this.counter.count(`p:${address}`, calls);
    return counted instanceof Promise ? counted.then(stateOf) : stateOf(counted);
  }

  /** Public calls of an address; counts nothing. */
  publicCalls(address: string): RateState | Promise<RateState> {
    return this.stateOf(this.counter.peek(`p:${address}`), this.rates.public, false);
  }

  /** Failed token calls of an address and of its network; counts nothing. */
  tokenFailures(address: string): Promise<RateState> {
    return this.failures(address, (key, limit) => this.stateOf(this.counter.peek(key), limit, false));
  }

  /** Counts a failed token call of an address. */
  countTokenFailure(address: string): Promise<RateState> {
    return this.failures(address, (key, limit) => this.stateOf(this.counter.count(key), limit));
  }

  /** Token calls of a client id that had the right secret; counts nothing. */
  tokenCalls(clientId: string): RateState | Promise<RateState> {
    return this.stateOf(this.counter.peek(`t:${clientId}`), this.config.rateClientToken, false);
  }

  /** Counts a token call that had the right secret. */
  countTokenCall(clientId: string): RateState | Promise<RateState> {
    return this.stateOf(this.counter.count(`t:${clientId}`), this.config.rateClientToken);
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

  /** Counts against one limit after the other, up to the first that is exceeded: the state of that one, or the one with fewest calls left. */
  private countEach(
    limits: readonly Limit[],
    at = 0,
    before?: RateState,
    own = this.stateOf(this.counter.count(limits[at]![0]), limits[at]![1]),
  ): RateState | Promise<RateState> {
    if (own instanceof Promise) return own.then((counted) => this.countEach(limits, at, before, counted));
    const state = own.exceeded || !before || own.remaining < before.remaining ? own : before;
    return own.exceeded || at === limits.length - 1 ? state : this.countEach(limits, at + 1, state);
  }

  /** Without counting, it refuses from the limit on: the next call would be one too many. A promise only where a server counts. */
  private stateOf(counted: Counted | Promise<Counted>, limit: number, counts = true): RateState | Promise<RateState> {
    if (counted instanceof Promise) return counted.then((known) => this.stateOf(known, limit, counts));
    const { used, resetsInMs } = counted;
    return {
      limit,
      remaining: Math.max(0, limit - used),
      reset: Math.ceil((Date.now() + resetsInMs) / 1000),
      exceeded: counts ? used > limit : used >= limit,
    };
  }
}

/** Each increment is atomic, so that an address or network takes at most its own limit from the tenant's, also with calls at once. */
const walletLimits = (
  prefix: string,
  { tenantId, address }: RateSubject,
  { walletAddress, walletTenant }: { walletAddress: number; walletTenant: number },
): Limit[] => {
  const network = networkKeyOf(address);
  return [
    [`${prefix}a:${tenantId}:${address}`, walletAddress],
    ...(network === undefined
      ? []
      : [[`${prefix}n:${tenantId}:${network}`, ADDRESSES_OF_NETWORK * walletAddress] as const]),
    [`${prefix}t:${tenantId}`, walletTenant],
  ];
};

/** Limits of the tenant last: a call refused by one of the address or network is not counted against the tenant. */
const lastOfTenant = (...groups: Limit[][]): Limit[] => [
  ...groups.flatMap((limits) => limits.slice(0, -1)),
  ...groups.flatMap((limits) => limits.slice(-1)),
];

/** The exceeded one, or the one with fewer calls left. */
const nearest = (one: RateState, other: RateState): RateState => {
  if (one.exceeded !== other.exceeded) return one.exceeded ? one : other;
  return other.remaining < one.remaining ? other : one;
};
