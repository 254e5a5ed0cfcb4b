import { Inject, Injectable } from '@nestjs/common';
import {
  AppError,
  forbidden,
  invalidToken,
  isAllowed,
  oauthError,
  unauthenticated,
  type Caller,
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
import { TokenVerifier, type MemberToken } from './token-verifier.js';
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

/** A client or a member with its roles at the tenant: they are checked here, and no operation reads them. */
export type IdentifiedCaller =
  | Exclude<Caller, { kind: 'client' }>
  | ((Extract<Caller, { kind: 'client' }> | Extract<Caller, { kind: 'user' }>) & { roles: readonly Role[] });

/** A person whose access token is exchanged. */
export interface TokenSubject {
  userId: string;
  /** End of the token, milliseconds since the epoch. */
  expiresAt: number;
  grantId?: string;
}

/** RFC 8693 §2.2.2. */
const unusableSubject = (reason: string, check = 'subject-token'): AppError =>
  oauthError('invalid_request', reason, { check });

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
    if (kind === 'roles') return this.tenantCaller(host, authorization, deadline, beforeCheck);
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
    if (entry && 'roles' in caller && isAllowed(caller.roles, permission, entry)) return;
    const allowed = entry ? roles.filter((role) => isAllowed([role], permission, entry)) : roles;
    const who = caller.kind === 'user' ? 'member' : 'client';
    throw forbidden(`The ${who} needs one of these roles: ${allowed.join(', ')}`);
  }

  /**
   * The person whose access token is exchanged, checked as {@link caller} checks one of the management API (RFC 8693 §2.1).
   * @throws AppError 400 `invalid_request`; 503 when the token cannot be checked by the deadline
   */
  async subject(token: string, deadline: number, beforeCheck: () => Promise<void>): Promise<TokenSubject> {
    if (!isExactJwt(token) || !this.userTokens.isOurs(token))
      throw unusableSubject('subject_token must be an access token of a person for the management API');
    const verified = await this.userTokens.verify(token, deadline, beforeCheck).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.kind !== 'unauthenticated') throw error;
      throw unusableSubject(error.message, error.check);
    });
    if (!verified) throw unusableSubject(reasonOfRefusal(token, this.config.peopleAudience, this.clock.now()));
    const { person, expiresAt, grantId } = verified;
    const userId = await this.directory.userOf(person, deadline);
    return { userId, expiresAt, ...(grantId !== undefined && { grantId }) };
  }

  /** A machine client with a token of this platform, or a person with one of the operator's provider. */
  private async managementCaller(
    authorization: string | undefined,
    deadline: number,
    beforeCheck?: () => Promise<void>,
  ): Promise<IdentifiedCaller> {
    const bearer = bearerOf(authorization, this.managementUrl);
    if (this.userTokens.isOurs(bearer)) {
      const token = await this.userTokens.verify(bearer, deadline, beforeCheck);
      if (!token) throw this.refusalOf(bearer, this.config.peopleAudience);
      return { kind: 'user', userId: await this.directory.userOf(token.person, deadline) };
    }
    const token = await this.verified(bearer, this.managementUrl, deadline, beforeCheck);
    if (!('clientId' in token) || !(await this.directory.hasManagementClient(token, deadline)))
      throw this.refusalOf(bearer, this.managementUrl);
    return { kind: 'management', clientId: token.clientId };
  }

  /** A client of the tenant, or a member with an exchanged token. */
  private async tenantCaller(
    host: ResolvedHost,
    authorization: string | undefined,
    deadline: number,
    beforeCheck?: () => Promise<void>,
  ): Promise<IdentifiedCaller> {
    const tenant = host.tenant!;
    const bearer = bearerOf(authorization, authUrlOf(this.config, tenant.baseUrl));
    const token = await this.verified(bearer, tenant.baseUrl, deadline, beforeCheck);
    // The directory's roles, not the token's: a change counts at once.
    const roles =
      'clientId' in token
        ? await this.directory.rolesOf(tenant.host, token, this.clock.now(), deadline)
        : await this.rolesOfMember(tenant.id, token, deadline);
    if (!roles) throw this.refusalOf(bearer, tenant.baseUrl);
    return 'clientId' in token
      ? { kind: 'client', clientId: token.clientId, roles }
      : { kind: 'user', userId: token.userId, roles };
  }

  /** `undefined` also when the exchanged token was revoked. */
  private async rolesOfMember(
    tenantId: string,
    { userId, grantId }: MemberToken,
    deadline: number,
  ): Promise<readonly Role[] | undefined> {
    if (await this.userTokens.hasEnded(grantId)) return undefined;
    return this.directory.rolesOfMember(tenantId, userId, deadline);
  }

  private async verified(bearer: string, audience: string, deadline: number, beforeCheck?: () => Promise<void>) {
    const token = await this.tokens.verify(bearer, deadline, beforeCheck);
    if (token?.audience !== audience) throw this.refusalOf(bearer, audience);
    const { expiresAt } = token;
    const tokenId = 'clientId' in token ? token.tokenId : undefined;
    if (tokenId !== undefined && (await this.directory.isRevoked(tokenId, expiresAt, this.clock.now(), deadline)))
      throw this.refusalOf(bearer, audience);
    return token;
  }

  private refusalOf(bearer: string, audience: string): AppError {
    return invalidToken(reasonOfRefusal(bearer, audience, this.clock.now()));
  }
}
