import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import {
  oauthError,
  type issueToken as operation,
  type OperationContext,
  type Role,
  type TokenResponse,
} from '@attestry/contracts';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import { KeyVault, randomSecret, type SecretMac } from '@attestry/keys';
import { CLOCK, IDS, PlatformConfig, type RequestOf } from '@attestry/service-kit';
import { TenantDirectory } from '../directory/tenant-directory.js';
import {
  isManagementClientId,
  managementClient,
  managementClientStream,
} from '../management-client/management-client.state.js';
import { secretDigest } from '../register-management-client/secret-digest.js';
import { liveSecrets } from '../tenant/tenant.decisions.js';
import { tokenAudience, type TokenAudience } from './token-audience.js';
import { parseTokenRequest } from './token-request.js';
import { TokenKeys } from './token-keys.js';

export class IssueToken {
  constructor(
    readonly request: RequestOf<typeof operation>,
    readonly context: OperationContext,
  ) {}
}

/** A client that may get a token, and what the token says about it. */
interface Candidate {
  /** Those of its secrets that are good now: one or two. */
  secretMacs: readonly SecretMac[];
  roles: Role[];
  issuer: string;
  audience: string;
}

@CommandHandler(IssueToken)
export class IssueTokenHandler implements ICommandHandler<IssueToken> {
  /** Verified against when there is no such client, so that the answer takes as long. */
  private readonly noSecret: SecretMac;

  constructor(
    private readonly streams: Streams,
    private readonly vault: KeyVault,
    private readonly directory: TenantDirectory,
    private readonly keys: TokenKeys,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {
    this.noSecret = vault.mac(randomSecret());
  }

  async execute({ request, context }: IssueToken): Promise<TokenResponse> {
    const { clientId, clientSecret, audience } = parseTokenRequest(request.body);
    const { publicScheme: scheme, managementDomain, environments } = this.config;
    const wanted = tokenAudience(audience, context.publicUrl, { scheme, managementDomain, environments });
    const client = await this.candidate(wanted, clientId);
    // Both kinds cost a digest and two MACs: neither whether nor as what a client exists shows in the time.
    const digest = secretDigest(clientSecret);
    const presented = wanted.kind === 'management' ? digest : clientSecret;
    const [current = this.noSecret, previous = this.noSecret] = client?.secretMacs ?? [];
    // Always two MACs, and both are looked at: neither whether there are two nor which one it was shows in the time.
    const matches = [current, previous].map((mac) => this.vault.verifyMac(presented, mac, clientId));
    if (!client || !matches.includes(true))
      throw oauthError('access_denied', 'Unauthorized', { check: 'client-credentials' });

    const expiresIn = this.config.clientTokenSeconds;
    const iat = Math.floor(this.clock.now().getTime() / 1000);
    const token = await this.keys.sign({
      iss: client.issuer,
      aud: client.audience,
      sub: clientId,
      client_id: clientId,
      roles: client.roles,
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
