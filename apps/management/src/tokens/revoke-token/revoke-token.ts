import { Inject } from '@nestjs/common';
import { isUuid, oauthError, revokeToken, type ContextOf, type RevokedToken } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { PLATFORM, type SecretMac } from '@attestry/keys';
import { CLOCK, eventContext, Operation, PlatformConfig, type RequestOf } from '@attestry/service-kit';
import { hostOfAddress, canonicalHost } from '../../tenants/directory/hosts.js';
import { TenantDirectory } from '../../tenants/directory/tenant-directory.js';
import { ClientAuthentication } from '../../platform/client-credentials/client-authentication.js';
import { TokenKeys } from '../token-keys/token-keys.js';
import {
  isManagementClientId,
  managementClient,
  managementClientStream,
} from '../../platform/management-client/management-client.state.js';
import { secretDigest } from '../../platform/client-credentials/secret-digest.js';
import { revokeToken as decide, type RevocableToken } from '../revoked-token/revoked-token.decisions.js';
import { revokedToken, revokedTokenStream } from '../revoked-token/revoked-token.state.js';
import { TenantListsReadModel } from '../../tenants/tenant-lists/tenant-lists.read-model.js';
import { liveSecrets } from '../../tenants/tenant/tenant.decisions.js';
import { parseRevocationRequest } from './revocation-request.js';

/** A tenant's client, and its secrets. */
interface Candidate {
  tenantId: string;
  secretMacs: readonly SecretMac[];
}

/** RFC 7009. A client can revoke only its own tokens; for any other token the response is the same, so that it reveals nothing about it. */
@Operation(revokeToken)
export class RevokeToken {
  constructor(
    private readonly streams: Streams,
    private readonly authentication: ClientAuthentication,
    private readonly directory: TenantDirectory,
    private readonly lists: TenantListsReadModel,
    private readonly keys: TokenKeys,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(request: RequestOf<typeof revokeToken>, context: ContextOf<typeof revokeToken>): Promise<RevokedToken> {
    const { token, clientId, clientSecret } = parseRevocationRequest(request.body);
    const tenantId = await this.authenticated(clientId, clientSecret, context.publicUrl);
    const revocable = await this.revocable(token);
    if (!revocable) return {};
    const now = this.clock.now().toISOString();
    await this.streams.runDecision(
      revokedToken,
      revokedTokenStream(revocable.tokenId),
      (state) => decide(state, { token: revocable, clientId }, { now }),
      { ...eventContext(context, tenantId), actor: `client:${clientId}` },
    );
    return {};
  }

  /** @returns the client's tenant, PLATFORM for a management client @throws 401 */
  private async authenticated(clientId: string, clientSecret: string, publicUrl: string): Promise<string> {
    const [management, tenant] = await Promise.all([
      this.managementSecret(clientId),
      this.tenantCandidate(clientId, publicUrl),
    ]);
    const [current, previous] = tenant?.secretMacs ?? [];
    // Always three MACs: the time reveals neither whether a client exists nor its kind.
    const fitting = this.authentication.fitting(clientId, [
      { presented: secretDigest(clientSecret), mac: management },
      { presented: clientSecret, mac: current },
      { presented: clientSecret, mac: previous },
    ]);
    if (fitting && fitting === management) return PLATFORM;
    if (fitting && tenant) return tenant.tenantId;
    throw oauthError('invalid_client', 'Unauthorized', { check: 'client-credentials' });
  }

  private async managementSecret(clientId: string): Promise<SecretMac | undefined> {
    if (!isManagementClientId(clientId)) return undefined;
    const { state } = await this.streams.load(managementClient, managementClientStream(clientId));
    return state.status === 'active' ? state.secretMac : undefined;
  }

  /** A client of a tenant whose environment has this authorization host. The list only finds the stream, which decides. */
  private async tenantCandidate(clientId: string, publicUrl: string): Promise<Candidate | undefined> {
    const tenantId = await this.lists.tenantOfClient(clientId);
    const found = tenantId === undefined ? undefined : await this.directory.byId(tenantId);
    const client = found?.tenant.clients.get(clientId);
    if (!found || !client) return undefined;
    const { publicScheme: scheme } = this.config;
    const host = canonicalHost(found.environment.authorizationServerDomain, scheme);
    if (hostOfAddress(publicUrl, scheme) !== host) return undefined;
    return { tenantId: found.tenant.id, secretMacs: liveSecrets(client, this.clock.now().toISOString()) };
  }

  private async revocable(token: string): Promise<RevocableToken | undefined> {
    const claims = await this.keys.verify(token);
    const { client_id: clientId, jti: tokenId, exp } = claims ?? {};
    if (typeof clientId !== 'string' || !isUuid(tokenId) || exp === undefined) return undefined;
    return { tokenId, clientId, expiresAt: new Date(exp * 1000).toISOString() };
  }
}
