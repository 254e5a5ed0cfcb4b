import { Inject, Injectable } from '@nestjs/common';
import {
  forbidden,
  invalidToken,
  isAllowed,
  unauthenticated,
  type AppError,
  type Caller,
  type ClientCaller,
  type Operation,
  type Role,
} from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { CLOCK, PlatformConfig } from '@attestry/service-kit';
import type { ResolvedHost } from '../request/hosts.js';
import { Directory } from '../directory/directory.js';
import { authUrlOf } from '../interface/host-addresses.js';
import { isExactJwt } from './is-exact-jwt.js';
import { reasonOfRefusal } from './reason-of-refusal.js';
import { TokenVerifier } from './token-verifier.js';
import { UserTokenVerifier } from './user-token-verifier.js';

/**
 * RFC 6750 §2.1: the scheme is case-insensitive (RFC 9110 §11.1), the token must be spelled exactly as issued.
 * @param issuedAt address of the host that issues tokens for the called API
 * @throws AppError 401
 */
const bearerOf = (authorization: string | undefined, issuedAt: string): string => {
  if (!authorization) throw unauthenticated();
  const [, token] = /^bearer +(.+)$/i.exec(authorization) ?? [];
  if (token === undefined) throw invalidToken('The Authorization header must be Bearer, a space and an access token');
  if (!isExactJwt(token))
    throw invalidToken(
      `The value after Bearer is no JWT, as access tokens are; request one at ${issuedAt}/oauth/token`,
    );
  return token;
};

/** A client with its roles at the tenant: they are checked here, and no operation reads them. */
export type IdentifiedCaller = Exclude<Caller, ClientCaller> | (ClientCaller & { roles: readonly Role[] });

/** Authenticates the caller as the operation requires: 401 or 403. Only for a token that the operator's provider signed the reason is exact. */
@Injectable()
export class Authenticate {
  private readonly managementUrl: string;

  constructor(
    private readonly tokens: TokenVerifier,
    private readonly userTokens: UserTokenVerifier,
    private readonly directory: Directory,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.managementUrl = `${config.publicScheme}://${config.managementDomain}`;
  }

  /**
   * @param operation whose callers have tokens; the plan has the caller of any other
   * @param deadline of the call, milliseconds since the epoch
   * @throws AppError 401; 503 when the token cannot be checked by the deadline
   */
  async caller(
    operation: Operation,
    host: ResolvedHost,
    authorization: string | undefined,
    deadline: number,
    beforeCheck?: () => Promise<void>,
  ): Promise<IdentifiedCaller> {
    const { kind } = operation.access;
    if (kind === 'management') return this.managementCaller(authorization, deadline, beforeCheck);
    if (kind === 'roles') return this.tenantClient(host, authorization, deadline, beforeCheck);
    throw unauthenticated();
  }

  /**
   * @throws AppError 403 when the caller has none of the roles that the tenant requires for the operation; 503 when they are not known by
   * the deadline
   */
  async authorize(operation: Operation, host: ResolvedHost, caller: IdentifiedCaller, deadline: number): Promise<void> {
    if (operation.access.kind !== 'roles') return;
    const { permission, roles } = operation.access;
    const entry = host.tenant && (await this.directory.tenantByHost(host.tenant.host, deadline));
    if (entry && caller.kind === 'client' && isAllowed(caller.roles, permission, entry)) return;
    const allowed = entry ? roles.filter((role) => isAllowed([role], permission, entry)) : roles;
    throw forbidden(`The client needs one of these roles: ${allowed.join(', ')}`);
  }

  /** A machine client with a token of this platform, or a person with one of the operator's provider. */
  private async managementCaller(
    authorization: string | undefined,
    deadline: number,
    beforeCheck?: () => Promise<void>,
  ): Promise<IdentifiedCaller> {
    const bearer = bearerOf(authorization, this.managementUrl);
    if (this.userTokens.isOurs(bearer)) {
      const person = await this.userTokens.verify(bearer, deadline, beforeCheck);
      if (!person) throw this.refusalOf(bearer, this.config.peopleAudience);
      return { kind: 'user', userId: await this.directory.userOf(person, deadline) };
    }
    const token = await this.verified(bearer, this.managementUrl, deadline, beforeCheck);
    if (!(await this.directory.hasManagementClient(token, deadline))) throw this.refusalOf(bearer, this.managementUrl);
    return { kind: 'management', clientId: token.clientId };
  }

  private async tenantClient(
    host: ResolvedHost,
    authorization: string | undefined,
    deadline: number,
    beforeCheck?: () => Promise<void>,
  ): Promise<IdentifiedCaller> {
    const tenant = host.tenant!;
    const bearer = bearerOf(authorization, authUrlOf(this.config, tenant.baseUrl));
    const token = await this.verified(bearer, tenant.baseUrl, deadline, beforeCheck);
    // The directory's roles, not the token's: a change counts at once.
    const roles = await this.directory.rolesOf(tenant.host, token, this.clock.now(), deadline);
    if (!roles) throw this.refusalOf(bearer, tenant.baseUrl);
    return { kind: 'client', clientId: token.clientId, roles };
  }

  private async verified(bearer: string, audience: string, deadline: number, beforeCheck?: () => Promise<void>) {
    const token = await this.tokens.verify(bearer, deadline, beforeCheck);
    if (token?.audience !== audience) throw this.refusalOf(bearer, audience);
    const { tokenId, expiresAt } = token;
    if (tokenId !== undefined && (await this.directory.isRevoked(tokenId, expiresAt, this.clock.now(), deadline)))
      throw this.refusalOf(bearer, audience);
    return token;
  }

  private refusalOf(bearer: string, audience: string): AppError {
    return invalidToken(reasonOfRefusal(bearer, audience, this.clock.now()));
  }
}
