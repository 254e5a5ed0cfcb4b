import { Inject } from '@nestjs/common';
import { issueToken, oauthError, type ContextOf, type Role, type TokenResponse } from '@attestry/contracts';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import type { SecretMac } from '@attestry/keys';
import { CLOCK, IDS, Operation, PlatformConfig, type RequestOf } from '@attestry/service-kit';
import { ClientAuthentication } from '../../platform/client-credentials/client-authentication.js';
import { secretDigest } from '../../platform/client-credentials/secret-digest.js';
import { secretIdOf } from '../../platform/client-credentials/secret-id.js';
import { TenantDirectory } from '../../tenants/directory/tenant-directory.js';
import {
  isManagementClientId,
  managementClient,
  managementClientStream,
} from '../../platform/management-client/management-client.state.js';
import { liveSecrets } from '../../tenants/tenant/tenant.decisions.js';
import { TokenKeys } from '../token-keys/token-keys.js';
import {
  tokenAudience,
  withAudienceAdvice,
  type PlatformHosts,
  type TokenAudience,
} from '../token-audience/token-audience.js';
import { isMissing, parseTokenRequest } from './token-request.js';

/** A client that may get a token, and the token's claims about it. */
interface Candidate {
  /** Its valid secrets: one or two. */
  secretMacs: readonly SecretMac[];
  roles: Role[];
  issuer: string;
  audience: string;
}

@Operation(issueToken)
export class IssueToken {
  constructor(
    private readonly streams: Streams,
    private readonly authentication: ClientAuthentication,
    private readonly directory: TenantDirectory,
    private readonly keys: TokenKeys,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(
    request: RequestOf<typeof issueToken>,
    { publicUrl }: ContextOf<typeof issueToken>,
  ): Promise<TokenResponse> {
    const { publicScheme: scheme, managementDomain, environments } = this.config;
    const hosts = { scheme, managementDomain, environments };
    try {
      return await this.issue(request.body, publicUrl, hosts);
    } catch (error) {
      // One that is no text has its own refusal.
      const audience = isMissing(request.body, 'audience') ? '' : (request.body as { audience?: unknown }).audience;
      throw typeof audience === 'string' ? withAudienceAdvice(error, audience, publicUrl, hosts) : error;
    }
  }

  private async issue(body: object, publicUrl: string, hosts: PlatformHosts): Promise<TokenResponse> {
    const { clientId, clientSecret, audience } = parseTokenRequest(body);
    const wanted = tokenAudience(audience, publicUrl, hosts);
    const client = await this.candidate(wanted, clientId);
    // Both kinds cost a digest and two MACs: the time reveals neither whether a client exists nor its kind.
    const digest = secretDigest(clientSecret);
    const presented = wanted.kind === 'management' ? digest : clientSecret;
    const [current, previous] = client?.secretMacs ?? [];
    // Always two MACs: the time does not reveal whether there are two secrets.
    const fitting = this.authentication.fitting(clientId, [
      { presented, mac: current },
      { presented, mac: previous },
    ]);
    if (!client || !fitting) throw oauthError('access_denied', 'Unauthorized', { check: 'client-credentials' });

    const expiresIn = this.config.clientTokenSeconds;
    const iat = Math.floor(this.clock.now().getTime() / 1000);
    const token = await this.keys.sign({
      iss: client.issuer,
      aud: client.audience,
      sub: clientId,
      client_id: clientId,
      roles: client.roles,
      secret_id: secretIdOf(fitting),
      jti: this.ids.uuid(),
      iat,
      exp: iat + expiresIn,
    });
    return { access_token: token, expires_in: expiresIn, token_type: 'Bearer' };
  }

  private async candidate(wanted: TokenAudience, clientId: string): Promise<Candidate | undefined> {
    switch (wanted.kind) {
      case 'management':
        return this.managementCandidate(clientId);
      case 'tenant': {
        const found = await this.directory.byHost(wanted.host);
        const client = found?.tenant.clients.get(clientId);
        if (!client || found?.environment.id !== wanted.environment.id) return undefined;
        return {
          secretMacs: liveSecrets(client, this.clock.now().toISOString()),
          roles: client.roles,
          issuer: this.url(wanted.environment.authorizationServerDomain),
          audience: this.url(found.host),
        };
      }
      case 'other':
        return undefined;
    }
  }

  private async managementCandidate(clientId: string): Promise<Candidate | undefined> {
    if (!isManagementClientId(clientId)) return undefined;
    const { state } = await this.streams.load(managementClient, managementClientStream(clientId));
    if (state.status !== 'active') return undefined;
    return {
      secretMacs: [state.secretMac],
      roles: [],
      issuer: this.url(this.config.environments[0]!.authorizationServerDomain),
      audience: this.url(this.config.managementDomain),
    };
  }

  private url(host: string): string {
    return `${this.config.publicScheme}://${host}`;
  }
}
