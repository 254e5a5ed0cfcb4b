import { fileURLToPath } from 'node:url';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AppError } from '@attestry/contracts';
import { Piscina } from 'piscina';
import type { QrTask } from './render-qr-code.worker.js';

/** The first one is the default. */
export const QR_MEDIA_TYPES = ['image/svg+xml', 'image/png'] as const;
export type QrMediaType = (typeof QR_MEDIA_TYPES)[number];

/** Images that wait for the thread, and that one tenant has waiting or in progress. */
const QUEUE = 32;
const QUEUE_OF_TENANT = 16;
/** After this long without work the thread ends and frees its memory. */
const IDLE_MS = 60_000;
const MEMORY_MB = 64;

/** QR codes, rendered in a worker thread: the largest takes tens of milliseconds (ADR 0041). */
@Injectable()
export class QrCodes implements OnApplicationShutdown {
  private pool: Piscina<QrTask, Uint8Array> | undefined;
  /** By tenant, then by type and text: however often a public address is requested, its image takes one slot. */
  private readonly unfinished = new Map<string, Map<string, Promise<Buffer>>>();

  /**
   * @param text at most 2,953 bytes (ISO/IEC 18004, version 40 with error correction level L)
   * @throws AppError 503 when too many images are being rendered
   */
  async render(tenantId: string, text: string, mediaType: QrMediaType): Promise<Buffer> {
    const pool = (this.pool ??= this.newPool());
    const own = this.unfinished.get(tenantId) ?? new Map<string, Promise<Buffer>>();
    const name = `${mediaType} ${text}`;
    const shared = own.get(name);
    if (shared) return shared;
    // A tenant without an image in progress always gets a slot.
    if (own.size >= QUEUE_OF_TENANT || (own.size > 0 && pool.queueSize >= QUEUE))
      throw new AppError('unavailable', 'Too many QR codes are being rendered', { headers: { 'retry-after': '1' } });
    // Bytes from another thread lose their Buffer class.
    const image = pool.run({ text, mediaType }).then((bytes) => Buffer.from(bytes));
    this.unfinished.set(tenantId, own.set(name, image));
    try {
      return await image;
    } finally {
      own.delete(name);
      if (own.size === 0) this.unfinished.delete(tenantId);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool?.destroy();
  }

  private newPool(): Piscina<QrTask, Uint8Array> {
    const { url } = import.meta;
    const pool = new Piscina<QrTask, Uint8Array>({
      filename: fileURLToPath(new URL(`./render-qr-code.worker${url.endsWith('.ts') ? '.ts' : '.js'}`, url)),
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      atomics: 'disabled',
      // The process's environment, which contains keys, is not passed to a thread.
      env: {},
      execArgv: ['--no-warnings'],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 16 },
    });
    // A thread that dies fails its job; an idle one that dies is replaced with the next job.
    pool.on('error', () => undefined);
    return pool;
  }
}
