import { setTimeout as pause } from 'node:timers/promises';
import { AppError, PLATFORM_TENANT } from '@attestry/contracts';
import type { UnitOfWork } from '@attestry/event-store';
import type { PlatformConfig } from '../config/config.js';
import type { Counted, RateCounter } from '../engines/rate-counter.js';
import type { Metrics } from '../metrics/metrics.js';

/** Bytes of tenants that a unit stores. */
export type Written = readonly (readonly [tenantId: string, bytes: number])[];

const SECONDS = { minute: 60, walletMinute: 60, day: 86_400 } as const;
type WindowName = keyof typeof SECONDS;
const ALL = ['minute', 'walletMinute', 'day'] as const;
/** The windows in which the bytes of a call count. */
const OF_CLIENTS = ['minute', 'day'] as const;
const OF_HOLDERS = ['walletMinute', 'day'] as const;

/** Bytes that are counted here before the shared counter gets it: a process exceeds a limit by no more, at about no cost per append. */
const SHARED_AFTER_BYTES = 1024 * 1024;
/** Largest part of the limit that is counted here, so that no usual number of processes uses up what is left to wallets. */
const SHARED_AFTER_PART = 1 / 64;
const SHARED_AFTER_MS = 1000;
/** Wallets may write so much of the day's limit after clients have used it up: a client cannot end the issuance of its tenant. */
const OF_WALLETS = 1 / 4;
/**
 * In a minute wallets have a window of their own, so many times that of the clients: of a credential they write two thirds, and what clients
 * may offer in a minute must not wait for the next one.
 */
const MINUTE_OF_WALLETS = 4;
/** Longest wait of own work over the limit: it serves all tenants, and ends what clients began. */
const OWN_WAIT_MS = 100;

interface Window {
  endsAt: number;
  /** By the shared counter, with what this process had given it. */
  shared: number;
  /** Given to the counter, which has not answered yet. */
  sent: number;
  /** Not given to it yet. Negative after an append that failed. */
  own: number;
  sharedAt: number;
}

/** Neither an operator nor the removal of data or rights waits for a limit that clients used up. */
const isAlwaysAdmitted = (operation: string): boolean =>
  operation.startsWith('management.') || /\.(?:delete|revoke|set)-/.test(operation);

const isOfTenant = ([tenantId]: readonly [string, number]): boolean => tenantId !== PLATFORM_TENANT;

/** A client or user with a token, or own work; every other actor is a wallet, or a person who signs in. */
const NO_HOLDER = /^(?:client|user|service):/;
const limitsOf = (minute: number, day: number): Readonly<Record<WindowName, number>> => ({
  minute,
  walletMinute: MINUTE_OF_WALLETS * minute,
  day,
});

/** Without a window, one that has ended. */
const NEW: Readonly<Window> = { endsAt: -Infinity, shared: 0, sent: 0, own: 0, sharedAt: -Infinity };
/** Tenants whose windows have ended that a new one removes: more than are added, and few enough for one append. */
const MOST_REMOVED = 16;

/**
 * Limits on the bytes that a tenant writes to streams that are kept for ever: of events, and of values stored with keys (ADR 0100). The
 * bytes are counted here and given to the counter that processes share in portions, in the background.
 */
export class WrittenBytes {
  private readonly tenants = new Map<string, Record<WindowName, Window>>();
  private readonly limits: Record<WindowName, number>;

  /** @param now milliseconds of a clock that is never set back */
  constructor(
    private readonly config: Pick<PlatformConfig, 'rates' | 'rateOverrides'>,
    private readonly counter: RateCounter,
    private readonly metrics: Metrics,
    private readonly now: () => number = performance.now.bind(performance),
  ) {
    this.limits = limitsOf(config.rates.bytesMinute, config.rates.bytesDay);
  }

  /**
   * Counts what a unit is about to store. Own work over the limit waits for a moment.
   * @returns what was counted, for {@link release}
   * @throws AppError 429 with `Retry-After`; then nothing is counted
   */
  async admit({ writes, appends }: UnitOfWork): Promise<Written> {
    const { metadata } = appends[appends.length - 1]!.events[0]!;
    // Nearly always of one tenant. In line, as this is done for every append.
    let ofTenant: [tenantId: string, bytes: number] = [metadata.tenantId, 0];
    const all = [ofTenant];
    for (const { bytes } of writes) if (bytes !== undefined) ofTenant[1] += bytes;
    for (const { events } of appends) {
      const { tenantId } = events[0]!.metadata;
      if (ofTenant[0] !== tenantId) {
        const counted = all.find(([name]) => name === tenantId);
        ofTenant = counted ?? [tenantId, 0];
        if (!counted) all.push(ofTenant);
      }
      for (const { text } of events) ofTenant[1] += Buffer.byteLength(text.data) + Buffer.byteLength(text.metadata);
    }
    const written = all.length === 1 && ofTenant[0] !== PLATFORM_TENANT ? all : all.filter(isOfTenant);
    const now = this.now();
    const names = NO_HOLDER.test(metadata.actor) ? OF_CLIENTS : OF_HOLDERS;
    for (const [tenantId, bytes] of written) {
      const windows = this.tenants.get(tenantId);
      const minute = windows?.[names[0]];
      const isWithin =
        windows !== undefined &&
        minute !== undefined &&
        minute.endsAt > now &&
        windows.day.endsAt > now &&
        minute.shared + minute.sent + minute.own + bytes <= this.limits[names[0]] &&
        windows.day.shared + windows.day.sent + windows.day.own + bytes <= this.limits.day &&
        this.config.rateOverrides[tenantId] === undefined;
      if (!isWithin && this.refuse(tenantId, metadata, bytes)) await pause(OWN_WAIT_MS);
    }
    for (const [tenantId, bytes] of written) {
      const windows = this.tenants.get(tenantId) ?? this.begin(tenantId);
      const limits = this.config.rateOverrides[tenantId] ? this.limitsOf(tenantId) : this.limits;
      for (const name of names) {
        const window = windows[name];
        window.own += bytes;
        const limit = limits[name];
        const portion = Math.min(SHARED_AFTER_BYTES, limit * SHARED_AFTER_PART);
        const isDue = window.own >= portion || (window.own > 0 && now - window.sharedAt >= SHARED_AFTER_MS);
        if (isDue && window.sent === 0) this.share(name, tenantId, window);
      }
    }
    return written;
  }

  /** After the unit was refused: nothing of it was stored. */
  release(written: Written, { actor }: { actor: string }): void {
    const names = NO_HOLDER.test(actor) ? OF_CLIENTS : OF_HOLDERS;
    for (const [tenantId, bytes] of written) {
      const windows = this.tenants.get(tenantId);
      if (windows) for (const name of names) windows[name].own -= bytes;
    }
  }

  /**
   * Before a command has any effect, and before an append.
   * @returns true for own work that has to wait
   * @throws AppError 429 with `Retry-After`
   */
  refuse(tenantId: string, { actor, operation }: { actor: string; operation: string }, bytes = 1): boolean {
    const limits = this.limitsOf(tenantId);
    const windows = this.begin(tenantId);
    const isOfHolder = !NO_HOLDER.test(actor);
    for (const name of isOfHolder ? OF_HOLDERS : OF_CLIENTS) {
      const limit = limits[name];
      const window = windows[name];
      const used = window.shared + window.sent + window.own + bytes;
      if (used <= limit || isAlwaysAdmitted(operation)) continue;
      if (actor.startsWith('service:')) return true;
      if (isOfHolder && name === 'day' && used <= limit * (1 + OF_WALLETS)) continue;
      const period = name === 'day' ? 'day' : 'minute';
      this.metrics.counter('writtenBytesRefusals').inc({ period });
      const seconds = Math.max(1, Math.ceil((window.endsAt - this.now()) / 1000));
      const who = isOfHolder ? 'The wallets of the tenant' : 'The tenant';
      throw new AppError('tooManyRequests', `${who} may write at most ${limit} bytes in a ${period}`, {
        headers: { 'retry-after': String(seconds) },
        check: 'written-bytes',
      });
    }
    return false;
  }

  private limitsOf(tenantId: string): Readonly<Record<WindowName, number>> {
    const own = this.config.rateOverrides[tenantId];
    return own ? limitsOf(own.bytesMinute ?? this.limits.minute, own.bytesDay ?? this.limits.day) : this.limits;
  }

  private share(name: WindowName, tenantId: string, window: Window): void {
    window.sent = window.own;
    window.own = 0;
    window.sharedAt = this.now();
    const counted = this.counter.count(`b:${name}:${tenantId}`, window.sent, SECONDS[name]);
    const learn = ({ used, resetsInMs }: Counted): void => {
      window.sent = 0;
      window.shared = used;
      window.endsAt = this.now() + resetsInMs;
    };
    // During an outage the counter counts for this process alone: it never rejects.
    if (counted instanceof Promise) void counted.then(learn);
    else learn(counted);
  }

  /** The current windows. A new one does not know yet what other processes wrote: its first append finds out. */
  private begin(tenantId: string): Record<WindowName, Window> {
    const now = this.now();
    let windows = this.tenants.get(tenantId);
    if (!windows) {
      // In the order in which they began.
      let left = MOST_REMOVED;
      for (const [name, { day }] of this.tenants) {
        if (day.endsAt > now || left-- === 0) break;
        this.tenants.delete(name);
      }
      windows = { minute: NEW, walletMinute: NEW, day: NEW };
      this.tenants.set(tenantId, windows);
    }
    for (const name of ALL)
      if (windows[name].endsAt <= now) windows[name] = { ...NEW, endsAt: now + SECONDS[name] * 1000 };
    return windows;
  }
}
