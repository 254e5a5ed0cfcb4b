import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { unavailable } from '@attestry/contracts';

const derive = promisify(argon2);

/** OWASP Password Storage: argon2id with 19 MiB, two passes, one lane. */
const MEMORY_KIB = 19_456;
const PASSES = 2;
const LANES = 1;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** At once: more would take the threads that files and DNS need. */
const PARALLEL = 2;
/** Those that may wait; whoever comes then is told to come again. */
const MAX_WAITING = 64;

const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

interface Parameters {
  memory: number;
  passes: number;
  parallelism: number;
  nonce: Buffer;
}

/** Unicode of a keyboard's choice is made one (NIST SP 800-63B §3.1.1.2). */
const bytesOf = (password: string): Buffer => Buffer.from(password.normalize('NFKC'), 'utf8');

const encoded = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '');

/** Hashes of passwords people chose, as PHC strings. Made on the thread pool: a hash takes tens of milliseconds of a core. */
@Injectable()
export class Passwords {
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  /** What somebody without an account is compared with, so that they wait as long. */
  private readonly nobody = { salt: randomBytes(SALT_BYTES), hash: randomBytes(HASH_BYTES) };

  /** @throws AppError 503 when too many wait */
  async hash(password: string): Promise<string> {
    const nonce = randomBytes(SALT_BYTES);
    const hash = await this.derive(
      password,
      { memory: MEMORY_KIB, passes: PASSES, parallelism: LANES, nonce },
      HASH_BYTES,
    );
    return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${encoded(nonce)}$${encoded(hash)}`;
  }

  /**
   * @param stored `undefined` where there is no account: false, after as much work
   * @throws AppError 503 when too many wait; Error for what is no hash of ours
   */
  async verify(password: string, stored: string | undefined): Promise<boolean> {
    if (stored === undefined) {
      const { salt: nonce, hash } = this.nobody;
      const made = await this.derive(
        password,
        { memory: MEMORY_KIB, passes: PASSES, parallelism: LANES, nonce },
        HASH_BYTES,
      );
      timingSafeEqual(made, hash);
      return false;
    }
    const [, memory, passes, lanes, salt, hash] = PHC.exec(stored) ?? [];
    if (hash === undefined) throw new Error('what is stored is no argon2id hash');
    const expected = Buffer.from(hash, 'base64');
    const parameters = {
      memory: Number(memory),
      passes: Number(passes),
      parallelism: Number(lanes),
      nonce: Buffer.from(salt!, 'base64'),
    };
    return timingSafeEqual(await this.derive(password, parameters, expected.length), expected);
  }

  private async derive(password: string, parameters: Parameters, tagLength: number): Promise<Buffer> {
    await this.turn();
    try {
      return await derive('argon2id', { message: bytesOf(password), tagLength, ...parameters });
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running--;
    }
  }

  /** Whoever ends hands the place on, so nobody gets in between. */
  private async turn(): Promise<void> {
    if (this.running < PARALLEL) {
      this.running++;
      return;
    }
    if (this.waiting.length >= MAX_WAITING) throw unavailable('Too many people sign in at once');
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}
