import { Injectable } from '@nestjs/common';
import { Streams } from '@attestry/event-store';
import { Formats } from '../../formats/formats.js';
import { openIdSettings, openIdSettingsStream } from '../../settings/openid-settings/openid-settings.state.js';
import { PublishedConfigurations } from '../../settings/credential-configuration/published-configurations.js';
import { RecentStates } from '../../reading/recent-states/recent-states.js';
import { wallets, walletsStream } from '../registered-wallets/wallets.state.js';
import type { HaipFacts } from '../../settings/haip/haip.decisions.js';

/** The profile `haip` of a tenant (ADR 0095). */
@Injectable()
export class HaipProfile {
  constructor(
    private readonly recent: RecentStates,
    private readonly streams: Streams,
    private readonly configurations: PublishedConfigurations,
    private readonly formats: Formats,
  ) {}

  /** At most a second old. */
  async isRequired(tenantId: string): Promise<boolean> {
    const { state } = await this.recent.load(openIdSettings, openIdSettingsStream(tenantId));
    return state.profile === 'haip';
  }

  /** Runs a check of the profile for a tenant that has it. @throws what `check` throws */
  async enforce(tenantId: string, check: () => void): Promise<void> {
    const stream = openIdSettingsStream(tenantId);
    const { state, cached } = await this.recent.load(openIdSettings, stream);
    if (state.profile !== 'haip') return;
    try {
      check();
    } catch (error) {
      // A cached state alone refuses nothing.
      if (!cached || (await this.recent.reload(openIdSettings, stream)).state.profile === 'haip') throw error;
    }
  }

  async loadFacts(tenantId: string): Promise<HaipFacts> {
    const [configurations, { state }] = await Promise.all([
      this.configurations.listActive(tenantId),
      this.streams.load(wallets, walletsStream(tenantId)),
    ]);
    return {
      formats: configurations.map(({ format }) => format),
      haipFormats: Object.values(this.formats.byName).flatMap(({ format, isOfHaip }) => (isOfHaip ? [format] : [])),
      hasAttestedWallet: state.some(({ rootCertificates, disabled }) => rootCertificates && !disabled),
    };
  }
}
