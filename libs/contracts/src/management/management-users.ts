import { IsBoolean, IsString, Length, MaxLength } from 'class-validator';
import { calledBy, defineOperation, userAccess } from '../operation.js';
import { Name, Optional } from '../validators.js';

export class PricingPlan {
  /** Name of the plan, for example `Standard`. */
  type: string;
  /** End of the plan. Absent if it has no end. */
  endDate?: string;
}

/** The user that makes the call. */
export class UserInformation {
  id: string;
  /** Verified e-mail address. Empty until the OpenID provider has confirmed one. */
  email: string;
  name: string;
  pricingPlan: PricingPlan;
  /** Always `Active`. */
  status: string;
}

export class UpdateUserInformationRequest {
  @Name() name: string;
}

export const retrieveUserInformation = defineOperation({
  name: 'management.retrieve-user-information',
  summary: 'Retrieve the user information of the caller',
  http: { method: 'GET', path: '/v1/userinfo', success: 200, hosts: ['management'] },
  access: userAccess,
  analytics: { prefix: 'USER_USERINFO_RETRIEVE', category: 'user', object: { type: 'user', from: 'caller' } },
  response: UserInformation,
});

export const updateUserInformation = defineOperation({
  name: 'management.update-user-information',
  summary: 'Update the user information of the caller',
  http: { method: 'PUT', path: '/v1/userinfo', success: 200, hosts: ['management'] },
  access: userAccess,
  analytics: { prefix: 'USER_USERINFO_UPDATE', category: 'user', object: { type: 'user', from: 'caller' } },
  body: UpdateUserInformationRequest,
  example: { name: 'Ada Lovelace' },
  response: UserInformation,
  errorStatuses: [400],
});

/** Claims about a person from an access token of the OpenID provider, which the gateway has verified. */
export class AdmitUserRequest {
  /** Claim `iss`. */
  @IsString() @Length(1, 2000) issuer: string;
  /** Claim `sub`. */
  @IsString() @Length(1, 1000) subject: string;
  @Optional() @IsString() @MaxLength(1000) email?: string;
  @Optional() @IsBoolean() emailVerified?: boolean;
  @Optional() @IsString() @MaxLength(1000) name?: string;
}

export class AdmittedUser {
  userId: string;
}

export const admitUser = defineOperation({
  name: 'management.admit-user',
  summary: 'Map a person of the OpenID provider to a user, who is registered with the first call',
  access: calledBy('gateway'),
  kind: 'command',
  body: AdmitUserRequest,
  response: AdmittedUser,
});
