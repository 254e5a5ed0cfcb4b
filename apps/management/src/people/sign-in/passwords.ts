import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { AppError, unavailable } from '@attestry/contracts';

const derive = promisify(argon2);

/** OWASP Password Storage: argon2id with 19 MiB, two passes, one lane. */
const MEMORY_KIB = 19_456;
const PASSES = 2;
const LANES = 1;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Concurrent hashes: more would take the threads that files and DNS need. */
const PARALLEL = 2;
/** Longest queue; callers beyond it get a 503. */
const MAX_WAITING = 64;
/** In progress or waiting for one caller, so that no single caller fills the queue (ADR 0048). */
export const MAX_PER_CALLER = 4;

const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

interface Parameters {
  memory: number;
  passes: number;
  parallelism: number;
  nonce: Buffer;
}

/** Unicode forms of different keyboards are normalized (NIST SP 800-63B §3.1.1.2). */
const bytesOf = (password: string): Buffer => Buffer.from(password.normalize('NFKC'), 'utf8');

const encoded = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/, '');

/** Password hashes as PHC strings. Computed on the thread pool: a hash takes tens of milliseconds of a core. */
@Injectable()
export class Passwords {
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  private readonly byCaller = new Map<string, number>();
  /** Compared where no account exists, so that the response takes as long. */
  private readonly decoy = { salt: randomBytes(SALT_BYTES), hash: randomBytes(HASH_BYTES) };

  /**
   * @param caller the address block, or the account for a browser that it knows
   * @throws AppError 503 when the queue is full; 429 when this caller has too many in it
   */
  async hash(password: string, caller: string): Promise<string> {
    const nonce = randomBytes(SALT_BYTES);
    const hash = await this.derive(
      password,
      { memory: MEMORY_KIB, passes: PASSES, parallelism: LANES, nonce },
      HASH_BYTES,
      caller,
    );
    return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${encoded(nonce)}$${encoded(hash)}`;
  }

  /**
   * @param stored `undefined` where there is no account: false, after as much work
   * @param caller the address block, or the account for a browser that it knows
   * @throws AppError 503 when the queue is full; 429 when this caller has too many in it; Error for a string that is not such a hash
   */
  async verify(password: string, stored: string | undefined, caller: string): Promise<boolean> {
    if (stored === undefined) {
      const { salt: nonce, hash } = this.decoy;
      const made = await this.derive(
        password,
        { memory: MEMORY_KIB, passes: PASSES, parallelism: LANES, nonce },
        HASH_BYTES,
        caller,
      );
      timingSafeEqual(made, hash);
      return false;
    }
    const [, memory, passes, lanes, salt, hash] = PHC.exec(stored) ?? [];
    if (hash === undefined) throw new Error('the stored password is not an argon2id hash');
    const expected = Buffer.from(hash, 'base64');
    const parameters = {
      memory: Number(memory),
      passes: Number(passes),
      parallelism: Number(lanes),
      nonce: Buffer.from(salt!, 'base64'),
    };
    return timingSafeEqual(await this.derive(password, parameters, expected.length, caller), expected);
  }

  private async derive(password: string, parameters: Parameters, tagLength: number, caller: string): Promise<Buffer> {
    const ofCaller = this.byCaller.get(caller) ?? 0;
    if (ofCaller >= MAX_PER_CALLER)
      throw new AppError('tooManyRequests', 'Too many sign-ins at once from your network', {
        headers: { 'retry-after': '1' },
      });
    this.byCaller.set(caller, ofCaller + 1);
    try {
      return await this.deriveInTurn(password, parameters, tagLength);
    } finally {
      const left = this.byCaller.get(caller)! - 1;
      if (left > 0) this.byCaller.set(caller, left);
      else this.byCaller.delete(caller);
    }
  }

  private async deriveInTurn(password: string, parameters: Parameters, tagLength: number): Promise<Buffer> {
    await this.waitForSlot();
    try {
      return await derive('argon2id', { message: bytesOf(password), tagLength, ...parameters });
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running--;
    }
  }

  /** A finished hash hands its slot to the next one, so that no newer one overtakes it. */
  private async waitForSlot(): Promise<void> {
    if (this.running < PARALLEL) {
      this.running++;
      return;
    }
    if (this.waiting.length >= MAX_WAITING) throw unavailable('Too many concurrent sign-ins');
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}
