import { hash } from 'node:crypto';
import { createClient, defineScript, type CommandParser } from '@redis/client';
import { ReplayGuard, ReplayGuardUnavailable } from '../key-vault.js';

export interface RedisReplayGuardOptions {
  /** `redis://` or, with TLS, `rediss://`, with user and password where the server requires them. */
  url: string;
  /** Prefix of the keys. Default `attestry`. */
  namespace?: string;
  /** Clock of this process, by which lifetimes are measured. */
  clock?: () => Date;
  /** How long the server may take, milliseconds. Default 2,000. */
  timeoutMs?: number;
  /** The connection failed; the client reconnects. */
  onError: (error: Error) => void;
}

/** Values are kept this long beyond their end, so that a process whose clock is behind still finds them. */
const MARGIN_MS = 60_000;

// A value may be issued again after its end and before the server deletes it, so NX alone would refuse too much.
const spend = defineScript({
  NUMBER_OF_KEYS: 1,
  SCRIPT: `
    local ends = redis.call('GET', KEYS[1])
    if ends and tonumber(ends) > tonumber(ARGV[1]) then return 0 end
    redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
    return 1`,
  parseCommand(parser: CommandParser, key: string, now: number, until: number) {
    parser.pushKey(key);
    parser.push(String(now), String(until), String(until - now + MARGIN_MS));
  },
  transformReply: (reply: unknown) => reply === 1,
});

const connect = async ({ url, onError }: RedisReplayGuardOptions, timeoutMs: number) => {
  const client = createClient({
    url,
    scripts: { spend },
    // Without a connection a spend is refused at once, not queued: the guard fails closed.
    disableOfflineQueue: true,
    socket: { connectTimeout: timeoutMs, reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, 1000) },
    pingInterval: 10_000,
  });
  client.on('error', onError);
  return client.connect();
};

/**
 * ReplayGuard on Redis or Valkey, for several processes. As durable as the server is configured: with `appendfsync always` a spend is on
 * its disk before the response.
 */
export class RedisReplayGuard extends ReplayGuard {
  private constructor(
    private readonly client: Awaited<ReturnType<typeof connect>>,
    private readonly namespace: string,
    private readonly clock: () => Date,
    private readonly timeoutMs: number,
  ) {
    super();
  }

  /** Waits until the server responds. */
  static async connect(options: RedisReplayGuardOptions): Promise<RedisReplayGuard> {
    const { namespace = 'attestry', clock = () => new Date(), timeoutMs = 2000 } = options;
    return new RedisReplayGuard(await connect(options, timeoutMs), namespace, clock, timeoutMs);
  }

  async spend(scope: string, value: string, expiresAt: Date): Promise<boolean> {
    const until = expiresAt.getTime();
    if (!Number.isFinite(until)) throw new RangeError('expiresAt is not a date');
    const now = this.clock().getTime();
    if (until <= now) return false;
    const digest = hash('sha256', `${scope.length}:${scope}${value}`, 'base64url').slice(0, 22);
    return this.inTime(this.client.spend(`${this.namespace}:replay:${digest}`, now, until));
  }

  /** The client's own time-out covers only the sending. */
  private async inTime<T>(answer: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('the replay guard did not answer in time')), this.timeoutMs);
    });
    try {
      return await Promise.race([answer, late]);
    } catch (error) {
      throw new ReplayGuardUnavailable(`replay guard: ${(error as Error).message}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    if (this.client.isOpen) await this.client.close();
  }
}
