import { Inject, Injectable } from '@nestjs/common';
import type { Provider } from 'oidc-provider';
import type { JwkSet } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { Macs, Sealing, SigningKeys, type SignInRecords } from '@attestry/keys';
import { CLOCK, LOGGER, PlatformConfig, type Logger } from '@attestry/service-kit';
import { Accounts } from './accounts.js';
import { listProviderKeys, openProvider } from './provider.js';

/** The OpenID provider of this process. */
@Injectable()
export class SignInProvider {
  private opening: Promise<Provider> | undefined;

  constructor(
    private readonly config: PlatformConfig,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    private readonly signingKeys: SigningKeys,
    private readonly accounts: Accounts,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Opened on the first use: many platforms never show a page. */
  open(records: SignInRecords): Promise<Provider> {
    const { config, macs, sealing, signingKeys, accounts, logger, clock } = this;
    const now = () => clock.now().getTime();
    this.opening ??= openProvider({ config, macs, sealing, signingKeys, records, accounts, logger, now });
    this.opening.catch(() => (this.opening = undefined));
    return this.opening;
  }

  async keySet(): Promise<JwkSet> {
    const keys = await listProviderKeys(this.signingKeys);
    return { keys: keys.map(({ keyId, publicJwk }) => ({ ...publicJwk, kid: keyId, alg: 'ES256', use: 'sig' })) };
  }
}
