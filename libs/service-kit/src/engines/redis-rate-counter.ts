import { createClient } from '@redis/client';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { MemoryRateCounter, RateCounter, WINDOW_SECONDS, type Counted } from './rate-counter.js';

export interface RedisRateCounterOptions {
  /** `redis://` or, with TLS, `rediss://`, with user and password where the server requires them. */
  url: string;
  /** Prefix of the keys. Default `attestry`. */
  namespace?: string;
  /** How long the server may take, milliseconds. Default 500: every request waits for it. */
  timeoutMs?: number;
  /** The connection failed; the client reconnects. */
  onError: (error: Error) => void;
}

/** The library counts; limits differ by class and tenant, so callers compare. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** Waits until the server responds, however long that takes. */
const connect = async ({ url, onError, timeoutMs = 500 }: RedisRateCounterOptions) => {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    socket: { connectTimeout: 4 * timeoutMs, reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, 1000) },
    pingInterval: 10_000,
  });
  client.on('error', onError);
  return client.connect();
};

/**
 * Counts in Redis or Valkey, for several gateways. While the server is unreachable each gateway counts on its own: a limit then grows at
 * most by the number of gateways, and no caller is refused because of it.
 */
export class RedisRateCounter extends RateCounter {
  private readonly limiters = new Map<number, RateLimiterRedis>();
  private readonly own = new MemoryRateCounter();

  private constructor(
    private readonly client: Awaited<ReturnType<typeof connect>>,
    private readonly options: RedisRateCounterOptions,
  ) {
    super();
  }

  static async connect(options: RedisRateCounterOptions): Promise<RedisRateCounter> {
    return new RedisRateCounter(await connect(options), options);
  }

  count(key: string, amount = 1, seconds = WINDOW_SECONDS): Promise<Counted> {
    return this.orAlone(this.countShared(key, amount, seconds), () => this.own.count(key, amount, seconds));
  }

  peek(key: string): Promise<Counted> {
    return this.orAlone(this.peekShared(key), () => this.own.peek(key));
  }

  async close(): Promise<void> {
    if (this.client.isOpen) await this.client.close();
  }

  private limiterOf(seconds: number): RateLimiterRedis {
    let limiter = this.limiters.get(seconds);
    if (!limiter) {
      limiter = new RateLimiterRedis({
        storeClient: this.client,
        useRedisPackage: true,
        rejectIfRedisNotReady: true,
        keyPrefix: `${this.options.namespace ?? 'attestry'}:rate`,
        points: UNLIMITED,
        duration: seconds,
      });
      this.limiters.set(seconds, limiter);
    }
    return limiter;
  }

  private async countShared(key: string, amount: number, seconds: number): Promise<Counted> {
    const { consumedPoints, msBeforeNext } = await this.limiterOf(seconds).consume(key, amount);
    return { used: consumedPoints, resetsInMs: msBeforeNext };
  }

  private async peekShared(key: string): Promise<Counted> {
    const found = await this.limiterOf(WINDOW_SECONDS).get(key);
    return { used: found?.consumedPoints ?? 0, resetsInMs: found?.msBeforeNext ?? WINDOW_SECONDS * 1000 };
  }

  private async orAlone(counting: Promise<Counted>, alone: () => Counted): Promise<Counted> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () => reject(new Error('the rate counter did not answer in time')),
        this.options.timeoutMs ?? 500,
      );
    });
    try {
      return await Promise.race([counting, late]);
    } catch (error) {
      this.options.onError(error instanceof Error ? error : new Error(String(error)));
      return alone();
    } finally {
      clearTimeout(timer);
    }
  }
}
