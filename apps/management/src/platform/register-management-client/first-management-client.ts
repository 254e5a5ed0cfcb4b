import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { CLOCK, IDS, PlatformConfig } from '@attestry/service-kit';
import { newClientCredentials } from '../client-credentials/client-credentials.js';
import { secretDigest } from '../client-credentials/secret-digest.js';
import { registerManagementClientDigest, type ManagementClientCredentials } from './register-management-client.js';
import { writeAtomically } from './write-atomically.js';

export const FIRST_MANAGEMENT_CLIENT_FILE = 'management-client.json';

/**
 * The first management client: the configured one, or in development one created once, whose file is durable before the client is
 * registered, so that a crash between the two locks no operator out.
 */
@Injectable()
export class FirstManagementClient implements OnModuleInit {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async onModuleInit(): Promise<void> {
    const { clientId, clientSecret } = this.configured() ?? (await this.readStored()) ?? (await this.createFile());
    await registerManagementClientDigest(
      this.streams,
      this.macs,
      this.ids,
      this.clock,
      { clientId, name: 'First management client', digest: secretDigest(clientSecret) },
      'configuration',
    );
  }

  private get file(): string {
    return join(this.config.dataDir, FIRST_MANAGEMENT_CLIENT_FILE);
  }

  private configured(): ManagementClientCredentials | undefined {
    const { managementClientId: clientId, managementClientSecret: clientSecret, nodeEnv } = this.config;
    if (clientId !== undefined && clientSecret !== undefined) return { clientId, clientSecret };
    if (nodeEnv === 'production')
      throw new Error('MANAGEMENT_CLIENT_ID and MANAGEMENT_CLIENT_SECRET are required in production');
    return undefined;
  }

  private async readStored(): Promise<ManagementClientCredentials | undefined> {
    let text: string;
    try {
      text = await readFile(this.file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    const credentials = parseCredentials(text);
    if (!credentials)
      throw new Error(`${this.file} must be a JSON object with client_id and client_secret; repair or remove it`);
    return credentials;
  }

  private async createFile(): Promise<ManagementClientCredentials> {
    const credentials = newClientCredentials();
    await mkdir(this.config.dataDir, { recursive: true });
    const { clientId: client_id, clientSecret: client_secret } = credentials;
    await writeAtomically(this.file, `${JSON.stringify({ client_id, client_secret })}\n`);
    return credentials;
  }
}

const parseCredentials = (text: string): ManagementClientCredentials | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const { client_id: clientId, client_secret: clientSecret } = (value ?? {}) as Record<string, unknown>;
  return typeof clientId === 'string' && typeof clientSecret === 'string' && clientSecret.length >= 32
    ? { clientId, clientSecret }
    : undefined;
};
