import { createClient, defineScript, type CommandParser } from '@redis/client';
import {
  EvictingReplayStore,
  ReplayGuard,
  ReplayGuardUnavailable,
  type SingleUseValue,
  type Spending,
} from '../vault/key-vault.js';
import { spendsOf, type Spend } from '../vault/single-use.js';

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

/** Characters of a digest in a key. */
const KEY_CHARACTERS = 22;

/** Results of the script. */
const [REFUSED, SPENT, FIRST_SPENT] = [0, 1, 2];

// A value may be issued again after its end and before the server deletes it, so NX alone would refuse too much.
const spendAll = defineScript({
  SCRIPT: `
    local now = tonumber(ARGV[1])
    local function isSpent(ends) return type(ends) == 'string' and tonumber(ends) > now end
    for i, key in ipairs(KEYS) do
      if isSpent(redis.call('GET', key)) then
        if i == 1 or ARGV[#ARGV] == 'all' then return ${REFUSED} end
        redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
        return ${FIRST_SPENT}
      end
    end
    for i, key in ipairs(KEYS) do redis.call('SET', key, ARGV[2 * i], 'PX', ARGV[2 * i + 1]) end
    return ${SPENT}`,
  /** @param atLeast of unspent values: all or none, or the first one also where others were used before */
  parseCommand(parser: CommandParser, keys: string[], spends: readonly Spend[], now: number, atLeast: 'all' | 'first') {
    parser.pushKeysLength(keys);
    parser.push(String(now));
    for (const { expiresAt } of spends) parser.push(String(expiresAt), String(expiresAt - now + MARGIN_MS));
    parser.push(atLeast);
  },
  transformReply: (reply: unknown) => Number(reply),
});

const connect = async ({ url, onError }: RedisReplayGuardOptions, timeoutMs: number) => {
  const client = createClient({
    url,
    scripts: { spendAll },
    // Without a connection a spend is refused at once, not queued: the guard fails closed.
    disableOfflineQueue: true,
    socket: { connectTimeout: timeoutMs, reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, 1000) },
    pingInterval: 10_000,
  });
  client.on('error', onError);
  return client.connect();
};

/** `INFO`, because managed servers forbid `CONFIG`. @throws EvictingReplayStore */
const refuseEviction = async (client: { info(section: string): Promise<string> }): Promise<void> => {
  const policy = /^maxmemory_policy:(\S+)/m.exec(await client.info('memory'))?.[1];
  if (policy !== 'noeviction') throw new EvictingReplayStore(policy ?? 'unknown');
};

/** Sets a key that does not exist only if it exists: changes nothing, and fails without the rights that a spend needs. */
const PROBE = "return redis.call('SET', KEYS[1], '1', 'PX', 1, 'XX')";

/**
 * Whether the server keeps what is spent, without waiting for it.
 * @param isProbed also tries the rights of the user
 * @throws EvictingReplayStore, or the error of the connection
 */
export const inspectRedis = async (url: string, isProbed = false, timeoutMs = 2000): Promise<void> => {
  const client = createClient({
    url,
    socket: { connectTimeout: timeoutMs, socketTimeout: timeoutMs, reconnectStrategy: false },
  });
  // Each failure rejects the call that it belongs to.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await refuseEviction(client);
    if (isProbed) await client.eval(PROBE, { keys: ['attestry:{doctor}:probe'] });
  } finally {
    if (client.isOpen) client.destroy();
  }
};

/**
 * ReplayGuard on Redis or Valkey, for several processes. As durable as the server is configured: with `appendfsync always` a spend is on
 * its disk before the response.
 */
export class RedisReplayGuard extends ReplayGuard {
  /** The check of the server that the current connection leads to. */
  private check: Promise<void> | undefined = Promise.resolve();

  private constructor(
    private readonly client: Awaited<ReturnType<typeof connect>>,
    private readonly namespace: string,
    private readonly clock: () => Date,
    private readonly timeoutMs: number,
  ) {
    super();
    // Another server may have taken over.
    client.on('ready', () => (this.check = undefined));
  }

  /** Waits until the server responds. @throws EvictingReplayStore unless its `maxmemory-policy` is `noeviction` */
  static async connect(options: RedisReplayGuardOptions): Promise<RedisReplayGuard> {
    const { namespace = 'attestry', clock = () => new Date(), timeoutMs = 2000 } = options;
    const client = await connect(options, timeoutMs);
    try {
      await refuseEviction(client);
    } catch (error) {
      client.destroy();
      throw error;
    }
    return new RedisReplayGuard(client, namespace, clock, timeoutMs);
  }

  async spendAll(tenantId: string, values: readonly SingleUseValue[]): Promise<boolean> {
    return (await this.spend(tenantId, values, 'all')) === SPENT;
  }

  override spending(
    tenantId: string,
    values: readonly SingleUseValue[],
    refusal: () => Error,
    always?: SingleUseValue,
  ): Spending {
    if (!always) return super.spending(tenantId, values, refusal);
    let spent: Promise<number | undefined> | undefined;
    return {
      kind: 'single-use',
      store: async () => {
        spent ??= this.spend(tenantId, [always, ...values], 'first');
        if ((await spent) !== SPENT) throw refusal();
      },
      partOf: async () => undefined,
      spendAlways: async () => {
        const outcome = await spent;
        return outcome === undefined ? this.spendAll(tenantId, [always]) : outcome !== REFUSED;
      },
    };
  }

  /**
   * One call of the server; none, and undefined, for values that cannot be spent. All keys of a tenant have one hash tag, so that a cluster keeps
   * them in one slot.
   */
  private async spend(tenantId: string, values: readonly SingleUseValue[], atLeast: 'all' | 'first') {
    const now = this.clock().getTime();
    const spends = spendsOf(tenantId, values, now);
    if (!spends) return undefined;
    const keys = spends.map(
      ({ digest }) => `${this.namespace}:replay:{${tenantId}}:${digest.slice(0, KEY_CHARACTERS)}`,
    );
    return this.inTime(this.checked(() => this.client.spendAll(keys, spends, now, atLeast)));
  }

  private async checked<T>(call: () => Promise<T>): Promise<T> {
    try {
      await (this.check ??= refuseEviction(this.client));
    } catch (error) {
      this.check = undefined;
      throw error;
    }
    return call();
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
