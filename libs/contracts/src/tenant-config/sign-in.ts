import { IsString, Length, MaxLength } from 'class-validator';
import { calledBy, defineOperation } from '../operation.js';
import { Optional, Uuid } from '../validators.js';

/**
 * What issuance asks of the tenant's authentication provider. The provider's secret stays with tenant-config, which alone
 * talks to it; issuance keeps the state of the flow.
 */

export class BeginSignInRequest {
  /** Where the provider sends people back to: the callback of the tenant. */
  @IsString() @MaxLength(2048) redirectUrl: string;
  @IsString() @Length(1, 200) state: string;
  @IsString() @Length(1, 200) nonce: string;
  /** S256. RFC 7636 §4.2 */
  @IsString() @Length(43, 43) codeChallenge: string;
  /** Query of the wallet's request: what the provider is configured to be told of is passed on. */
  @IsString() @MaxLength(16_384) query: string;
}

export class BegunSignIn {
  providerId: string;
  /** Absent: the one that the provider was created with. */
  identitySpaceId?: string;
  /** Of the provider's authorization endpoint, with everything it is to be told. */
  url: string;
}

/** 404 when the tenant has no provider; 503 when it cannot be reached or cannot be used. */
export const beginSignIn = defineOperation({
  name: 'tenant-config.begin-sign-in',
  summary: "Tell where the tenant's authentication provider signs people in",
  access: calledBy('issuance'),
  kind: 'query',
  errors: 'tenant',
  body: BeginSignInRequest,
  response: BegunSignIn,
});

export class CompleteSignInRequest {
  @Uuid() providerId: string;
  /** As the sign-in began. */
  @Optional() @Uuid() identitySpaceId?: string;
  @IsString() @MaxLength(2048) redirectUrl: string;
  /** With which the provider sent the person back. */
  @IsString() @MaxLength(16_384) query: string;
  @IsString() @Length(1, 200) state: string;
  @IsString() @Length(1, 200) nonce: string;
  @IsString() @Length(43, 128) codeVerifier: string;
}

export class CompletedSignIn {
  /** The provider's address. */
  url: string;
  /** Within which `subjectId` is one person; absent: the one that the provider was created with. */
  identitySpaceId?: string;
  /** `sub` of the ID token. */
  subjectId: string;
  /** Of the ID token, without those of the protocol. */
  claims: Record<string, unknown>;
  /** Names of `claims` that outlive the session. */
  claimsToPersist: string[];
}

/**
 * 404 when the provider was deleted meanwhile; an error of OAuth (`access_denied`, `temporarily_unavailable`,
 * `server_error`) when the provider says no, or nothing that can be believed.
 */
export const completeSignIn = defineOperation({
  name: 'tenant-config.complete-sign-in',
  summary: 'Ask the authentication provider who it was that signed in',
  access: calledBy('issuance'),
  errors: 'tenant',
  body: CompleteSignInRequest,
  response: CompletedSignIn,
});
