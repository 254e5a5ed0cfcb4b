import { ArrayMaxSize, IsArray, IsInt, IsString, Length, MaxLength, Min } from 'class-validator';
import { calledForTenant, defineOperation } from '../operation.js';
import { Optional, Uuid } from '../validators.js';

/**
 * Sign-in with the tenant's authentication provider. Only tenant-config has the provider's secret and sends requests to the
 * provider; issuance keeps the state of the flow.
 */

export class BeginSignInRequest {
  /** Redirect URI for the provider: the callback of the tenant. */
  @IsString() @MaxLength(2048) redirectUrl: string;
  @IsString() @Length(1, 200) state: string;
  @IsString() @Length(1, 200) nonce: string;
  /** PKCE code challenge by S256 (RFC 7636 section 4.2). */
  @IsString() @Length(43, 43) codeChallenge: string;
  /** Query of the wallet's authorization request; the configured parameters are forwarded. */
  @IsString() @MaxLength(16_384) query: string;
}

export class BegunSignIn {
  providerId: string;
  /** Default: the identity space with which the provider was created. */
  identitySpaceId?: string;
  /** URL of the provider's authorization endpoint, with all parameters. */
  url: string;
}

export const beginSignIn = defineOperation({
  name: 'tenant-config.begin-sign-in',
  summary: "Start a sign-in with the tenant's authentication provider",
  description: 'Returns 404 if the tenant has no provider, and 503 if the provider cannot be reached or used.',
  access: calledForTenant('issuance'),
  kind: 'query',
  body: BeginSignInRequest,
  response: BegunSignIn,
});

export class CompleteSignInRequest {
  @Uuid() providerId: string;
  /** Identity space returned when the sign-in was started. */
  @Optional() @Uuid() identitySpaceId?: string;
  @IsString() @MaxLength(2048) redirectUrl: string;
  /** Query with which the provider redirected to the callback. */
  @IsString() @MaxLength(16_384) query: string;
  @IsString() @Length(1, 200) state: string;
  @IsString() @Length(1, 200) nonce: string;
  @IsString() @Length(43, 128) codeVerifier: string;
  /** When the sign-in was started, milliseconds since the epoch: the age of the authentication counts from then. */
  @IsInt() @Min(0) begunAt: number;
  /**
   * Names of the claims that the requested credentials map. UserInfo is requested if the ID token lacks one of them. Default: UserInfo is
   * not requested.
   */
  @Optional()
  @IsArray()
  @ArrayMaxSize(1000)
  @IsString({ each: true })
  @Length(1, 1024, { each: true })
  mappedClaims?: string[];
}

/** Outcome of the request to the UserInfo endpoint of the provider. */
export class UserInfoOutcome {
  /** False if the ID token has all mapped claims. */
  requested: boolean;
  /** Why UserInfo returned no claims. */
  failure?: string;
}

export class CompletedSignIn {
  /** Issuer URL of the provider. */
  url: string;
  /** Identity space in which `subjectId` identifies a person. Default: the one with which the provider was created. */
  identitySpaceId?: string;
  /** `sub` of the ID token. */
  subjectId: string;
  /** Claims of the ID token, then those of UserInfo, without those of the protocol, such as `nonce`. */
  claims: Record<string, unknown>;
  /** Names of those `claims` that are stored with the user. */
  claimsToPersist: string[];
  /** Names of those `claims` that have a number which would be signed with another value; they are null. */
  unusableClaims?: string[];
  /** Absent if the request has no `mappedClaims`. */
  userInfo?: UserInfoOutcome;
}

export const completeSignIn = defineOperation({
  name: 'tenant-config.complete-sign-in',
  summary: 'Complete a sign-in: exchange the code for the verified identity of the person',
  description:
    'Returns 404 if the provider was deleted, and the OAuth errors `access_denied`, `temporarily_unavailable` or `server_error` if it denies the sign-in, cannot be reached or returns an invalid response.',
  access: calledForTenant('issuance'),
  body: CompleteSignInRequest,
  response: CompletedSignIn,
});
