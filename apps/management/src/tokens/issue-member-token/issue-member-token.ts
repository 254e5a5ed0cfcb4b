import { Inject } from '@nestjs/common';
import { ACCESS_TOKEN_TYPE, issueMemberToken, type TokenResponse } from '@attestry/contracts';
import type { Clock, Ids } from '@attestry/event-store';
import { CLOCK, IDS, Operation, PlatformConfig, type RequestOf } from '@attestry/service-kit';
import { TenantDirectory, type TenantEntry } from '../../tenants/directory/tenant-directory.js';
import { tokenAudience } from '../token-audience/token-audience.js';
import { TokenKeys } from '../token-keys/token-keys.js';
import { memberTokenSeconds } from './member-token.js';

/** The token names person and tenant. It has no `client_id`, which every token of a client has, so that it is never taken for one (ADR 0127). */
@Operation(issueMemberToken)
export class IssueMemberToken {
  constructor(
    private readonly directory: TenantDirectory,
    private readonly keys: TokenKeys,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(request: RequestOf<typeof issueMemberToken>): Promise<TokenResponse> {
    const { userId, audience, publicUrl, subjectExpiresAt, grantId } = request.body;
    const found = await this.tenantOf(audience, publicUrl);
    const iat = Math.floor(this.clock.now().getTime() / 1000);
    const expiresIn = memberTokenSeconds(
      found?.tenant ?? { status: 'absent' },
      { userId },
      { now: iat, subjectExpiresAt, maxSeconds: this.config.clientTokenSeconds },
    );
    const { host, environment } = found!;
    const token = await this.keys.sign({
      iss: this.url(environment.authorizationServerDomain),
      aud: this.url(host),
      sub: userId,
      jti: this.ids.uuid(),
      ...(grantId !== undefined && { grant_id: grantId }),
      iat,
      exp: iat + expiresIn,
    });
    return {
      access_token: token,
      expires_in: expiresIn,
      token_type: 'Bearer',
      issued_token_type: ACCESS_TOKEN_TYPE,
    };
  }

  /** Only in the environment of the authorization host that was called. */
  private async tenantOf(audience: string, publicUrl: string): Promise<TenantEntry | undefined> {
    const { publicScheme: scheme, managementDomain, environments } = this.config;
    const wanted = tokenAudience(audience, publicUrl, { scheme, managementDomain, environments });
    if (wanted.kind !== 'tenant') return undefined;
    const found = await this.directory.byHost(wanted.host);
    return found?.environment.id === wanted.environment.id ? found : undefined;
  }

  private url(host: string): string {
    return `${this.config.publicScheme}://${host}`;
  }
}
