import { Inject, Injectable } from '@nestjs/common';
import {
  namesOfUnusable,
  oauthError,
  usableClaims,
  type CredentialProfile,
  type UsableClaims,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { LOGGER, type Logger } from '@attestry/service-kit';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { openIdSettings, openIdSettingsStream } from '../../settings/openid-settings/openid-settings.state.js';
import type { UserObject } from '../../formats/map-claims.js';
import type { WalletRecord } from '../../wallets/wallet-record/wallet-records.js';
import type { ConfiguredSource } from './claim-sources.events.js';
import { claimSources, claimSourcesStream } from './claim-sources.state.js';
import { GuardedExchange } from './guarded-exchange.js';
import { claimsOfAnswer, MAX_ANSWER_BYTES, parametersOf, SourceFailed, sourceRequest } from './source-exchange.js';
import { SourceSecrets } from './source-secrets.js';
import { SourceSlots } from './source-slots.js';
import { SourceTokens } from './source-tokens.js';

/** The configuration that names the source. */
export type SourcedConfiguration = Pick<ActiveConfiguration, 'id' | 'type' | 'format'> & { profile: CredentialProfile };

/** Claims that the source of a credential configuration returns (ADR 0093). */
@Injectable()
export class SourceClaims {
  constructor(
    private readonly streams: Streams,
    private readonly secrets: SourceSecrets,
    private readonly tokens: SourceTokens,
    private readonly exchange: GuardedExchange,
    private readonly slots: SourceSlots,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Called once for each credential request.
   * @returns none when the source fails and the tenant does not require it (`strictClaimsSources`)
   * @throws ClaimsNotReady when the source has no claims yet
   * @throws AppError credential_request_denied, or 429 when too many calls for the user are in progress
   */
  async request(
    { tenantId, userId, sourceId }: { tenantId: string; userId: string; sourceId: string },
    configuration: SourcedConfiguration,
    from: UserObject,
    record: WalletRecord,
  ): Promise<Record<string, unknown>> {
    const [{ state: sources }, { state: settings }] = await Promise.all([
      this.streams.load(claimSources, claimSourcesStream(tenantId)),
      this.streams.load(openIdSettings, openIdSettingsStream(tenantId)),
    ]);
    const source = sources.find(({ id }) => id === sourceId);
    try {
      // Deleted while the configuration was created.
      if (!source) throw new SourceFailed('the claims source does not exist');
      const { claims, unusable } = await this.slots.run({ tenantId, userId, sourceId }, () =>
        this.call(tenantId, source, configuration, from),
      );
      if (unusable.length > 0) {
        const unusableClaims = namesOfUnusable(unusable);
        const { requestId } = record.events;
        this.logger.warn(
          { requestId, tenantId, claimSourceId: sourceId, unusableClaims },
          'claims with inexact numbers',
        );
        record.addMetadata({ claimSourceId: sourceId, unusableClaims });
      }
      return claims;
    } catch (error) {
      if (!(error instanceof SourceFailed)) throw error;
      const { requestId } = record.events;
      this.logger.warn({ requestId, tenantId, claimSourceId: sourceId, reason: error.message }, 'claims source failed');
      record.addMetadata({ claimSourceId: sourceId, claimSourceFailure: error.message });
      if (source && !settings.strictClaimsSources) return {};
      throw oauthError('credential_request_denied', 'a claims source did not return the claims of the credential', {
        check: 'source-claims',
      });
    }
  }

  private async call(
    tenantId: string,
    source: ConfiguredSource,
    configuration: SourcedConfiguration,
    from: UserObject,
  ): Promise<UsableClaims> {
    const { id, type, format, profile } = configuration;
    const { headers, ...request } = sourceRequest(
      source,
      parametersOf(source.requestParameters, from, { id, type, format, profile }),
    );
    const credentials = await this.credentialsOf(tenantId, source);
    const answer = await this.exchange.send(
      tenantId,
      { ...request, headers: { ...headers, ...credentials } },
      MAX_ANSWER_BYTES,
    );
    const { authorization } = source;
    if (answer.status === 401 && authorization?.type === 'oauth-client-credentials')
      this.tokens.forget(tenantId, authorization);
    return usableClaims(claimsOfAnswer(answer), Buffer.from(answer.body).toString('utf8'));
  }

  private async credentialsOf(tenantId: string, { authorization }: ConfiguredSource): Promise<Record<string, string>> {
    if (!authorization) return {};
    const secret = await this.secrets.openSecret(tenantId, authorization);
    if (secret === undefined) throw new SourceFailed('the claims source was deleted');
    return authorization.type === 'api-key'
      ? { 'x-api-key': secret }
      : { authorization: await this.tokens.authorize(tenantId, authorization, secret) };
  }
}
