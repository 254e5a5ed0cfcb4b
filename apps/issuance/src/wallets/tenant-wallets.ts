import { Injectable } from '@nestjs/common';
import { Streams } from '@attestry/event-store';
import type { OpenIdSettings } from '../openid-settings/openid-settings.events.js';
import { openIdSettings, openIdSettingsStream } from '../openid-settings/openid-settings.state.js';
import { wallets, walletsStream, type WalletsState } from './wallets.state.js';

/** What the protocol endpoints need of a tenant's wallets and settings; read for each request, so that a change has effect at once. */
@Injectable()
export class TenantWallets {
  constructor(private readonly streams: Streams) {}

  async listWallets(tenantId: string): Promise<WalletsState> {
    return (await this.streams.load(wallets, walletsStream(tenantId))).state;
  }

  async readSettings(tenantId: string): Promise<OpenIdSettings> {
    return (await this.streams.load(openIdSettings, openIdSettingsStream(tenantId))).state;
  }
}
