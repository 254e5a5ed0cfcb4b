import { Inject, Injectable } from '@nestjs/common';
import { AppError, oauthError, type OpenIdConfiguration } from '@attestry/contracts';
import { LOGGER, PlatformConfig, type Logger } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import { checkPushed } from '../wallet-clients/check-pushed.js';
import { classifyClient, type ClientClass } from '../wallet-clients/classify-client.js';
import { effectiveSettings } from '../../settings/openid-settings/openid-settings.decisions.js';
import { openIdSettings, openIdSettingsStream } from '../../settings/openid-settings/openid-settings.state.js';
import { RecentStates } from '../../reading/recent-states/recent-states.js';
import type { RegisteredWallet } from './wallets.events.js';
import { wallets, walletsStream, type WalletsState } from './wallets.state.js';

/**
 * Wallets and settings of a tenant for the protocol endpoints. They are read for each request, so that a change has effect at once; the
 * first wallet and the first settings of a tenant have effect within a second.
 */
@Injectable()
export class TenantWallets {
  /** Tenants for which the list of the operator was used. */
  private readonly warned = new LRUCache<string, true>({ max: 10_000 });

  constructor(
    private readonly recent: RecentStates,
    private readonly config: PlatformConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async findWallet(tenantId: string, clientId: string): Promise<RegisteredWallet | undefined> {
    return (await this.listWallets(tenantId)).find((wallet) => wallet.clientId === clientId);
  }

  async readSettings(tenantId: string): Promise<OpenIdConfiguration> {
    return effectiveSettings(await this.loadSettings(tenantId), this.config);
  }

  /** @param isPushed through PAR, where a wallet with root certificates attested itself. @throws AppError 400 that is shown on a page */
  async classifyClient(
    tenantId: string,
    client: { clientId: string; redirectUri: string },
    isPushed: boolean,
  ): Promise<ClientClass> {
    const [all, settings] = await Promise.all([this.listWallets(tenantId), this.loadSettings(tenantId)]);
    const found = classifyClient(client, { wallets: all, settings, config: this.config, isPushed });
    if (found.kind === 'listed' && !this.warned.has(tenantId)) {
      this.warned.set(tenantId, true);
      this.logger.warn({ tenantId }, 'wallet allowed by WALLET_REDIRECT_URIS: register it instead');
    }
    return found;
  }

  /** Whether a client that was not registered when its session began may still use the authorization code flow. */
  async isAllowed(tenantId: string, client: { clientId: string; redirectUri: string }): Promise<boolean> {
    try {
      await this.classifyClient(tenantId, client, true);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.kind === 'invalid') return false;
      throw error;
    }
  }

  /** For a request that waited: wallets and settings may have changed meanwhile. @throws AppError that is shown on a page */
  async confirmClient(
    tenantId: string,
    accepted: { clientId: string; redirectUri: string; clientKind: ClientClass['kind']; pushed?: string },
  ): Promise<void> {
    const isPushed = accepted.pushed !== undefined;
    checkPushed(isPushed, await this.readSettings(tenantId));
    const client = await this.classifyClient(tenantId, accepted, isPushed);
    if (client.kind !== accepted.clientKind)
      throw oauthError('invalid_request', 'the registration of the wallet has changed; start again in the wallet', {
        check: 'confirm-client',
      });
  }

  private async listWallets(tenantId: string): Promise<WalletsState> {
    return (await this.recent.loadStored(wallets, walletsStream(tenantId))).state;
  }

  private async loadSettings(tenantId: string) {
    return (await this.recent.loadStored(openIdSettings, openIdSettingsStream(tenantId))).state;
  }
}
