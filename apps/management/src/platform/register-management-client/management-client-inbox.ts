import { chmod, mkdir, readdir, readFile, unlink } from 'node:fs/promises';
import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { AppError } from '@attestry/contracts';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { CLOCK, Health, IDS, LOGGER, PlatformConfig, type Logger } from '@attestry/service-kit';
import { parseManagementClientRequest, requestFile, requestFolder } from './management-client-request.js';
import { registerManagementClientDigest } from './register-management-client.js';
import { writeAtomically } from './write-atomically.js';

const POLL_MS = 1000;
const REQUEST_FILE = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.json$/;
/** A request is a name, an id and a digest; longer files are not requests. */
const MAX_REQUEST_LENGTH = 4096;

/**
 * Takes the requests for management clients that the command line drops into the data folder, every second. Where there
 * is no such folder, the command registers the client itself.
 */
@Injectable()
export class ManagementClientInbox implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private polling: Promise<void> | undefined;
  private lastError: string | undefined;

  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly config: PlatformConfig,
    private readonly health: Health,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async onModuleInit(): Promise<void> {
    if (!this.config.hasDataFolder) return;
    const folder = requestFolder(this.config.dataDir);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // An existing folder would keep its own mode otherwise.
    await chmod(folder, 0o700);
    const name = 'management.client-inbox';
    this.health.register(name, () => [
      { name, healthy: this.lastError === undefined, ...(this.lastError !== undefined && { error: this.lastError }) },
    ]);
  }

  onApplicationBootstrap(): void {
    if (this.config.hasDataFolder) this.timer = setInterval(() => void this.poll(), POLL_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.polling;
  }

  /** Handles the pending requests. A failure shows in readiness and the next poll tries again. */
  poll(): Promise<void> {
    this.polling ??= this.handleRequests().finally(() => (this.polling = undefined));
    return this.polling;
  }

  private async handleRequests(): Promise<void> {
    try {
      for (const file of await readdir(requestFolder(this.config.dataDir))) {
        const id = REQUEST_FILE.exec(file)?.[1];
        if (id !== undefined) await this.handleRequest(id);
      }
      this.lastError = undefined;
    } catch (error) {
      this.lastError = error instanceof Error ? error.message : String(error);
      this.logger.error({ error: this.lastError }, 'reading management client requests failed');
    }
  }

  private async handleRequest(id: string): Promise<void> {
    const { dataDir } = this.config;
    const text = await readFile(requestFile(dataDir, id, 'json'), 'utf8');
    const request =
      text.length > MAX_REQUEST_LENGTH
        ? `must have at most ${MAX_REQUEST_LENGTH} characters`
        : parseManagementClientRequest(text);
    const reason = typeof request === 'string' ? request : await this.register(request);
    if (reason === undefined) await writeAtomically(requestFile(dataDir, id, 'done'), '{}\n');
    else await writeAtomically(requestFile(dataDir, id, 'rejected'), `${JSON.stringify({ reason })}\n`);
    // A crash before this line repeats a registration that then changes nothing.
    await unlink(requestFile(dataDir, id, 'json'));
    this.logger.info({ request: id, ...(reason !== undefined && { reason }) }, 'management client request handled');
  }

  /** @returns why the client cannot be registered; absent when it was */
  private async register(request: {
    name: string;
    client_id: string;
    client_secret_sha256: string;
  }): Promise<string | undefined> {
    const { name, client_id: clientId, client_secret_sha256: digest } = request;
    try {
      await registerManagementClientDigest(
        this.streams,
        this.macs,
        this.ids,
        this.clock,
        { clientId, name, digest },
        'request',
      );
      return undefined;
    } catch (error) {
      if (error instanceof AppError && error.kind === 'conflict') return error.message;
      throw error;
    }
  }
}
