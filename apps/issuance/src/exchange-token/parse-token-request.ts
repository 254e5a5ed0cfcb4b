import { oauthError } from '@attestry/contracts';
import { isObject } from '../protocol/raw-request.js';
import { AUTHORIZATION_CODE_GRANT, checkGrantType } from './check-grant-type.js';

/** An entry of `authorization_details` (OID4VCI §5.1.1); that the offer holds it is checked later. */
export interface RequestedDetail {
  credentialConfigurationId: string;
}

export interface PreAuthorizedCodeRequest {
  grant: 'preAuthorizedCode';
  code: string;
  transactionCode?: string;
  authorizationDetails?: RequestedDetail[];
}

export interface AuthorizationCodeRequest {
  grant: 'authorizationCode';
  code: string;
  clientId: string;
  redirectUri: string;
  codeVerifier: string;
  authorizationDetails?: RequestedDetail[];
}

export type TokenRequest = PreAuthorizedCodeRequest | AuthorizationCodeRequest;

/**
 * OID4VCI §6.1, RFC 6749 §4.1.3. Parameters without a value count as omitted (RFC 6749 §3.2); unknown ones are ignored, and so
 * is the `client_id` of a pre-authorized code.
 */
export const parseTokenRequest = (form: URLSearchParams): TokenRequest => {
  const value = (name: string): string | undefined => form.get(name) || undefined;
  const needed = (name: string): string => {
    const found = value(name);
    if (found === undefined)
      throw oauthError('invalid_request', `${name} is missing`, { check: 'parse-token-request' });
    return found;
  };
  const grantType = checkGrantType(value('grant_type'));
  const details = value('authorization_details');
  const asked = details === undefined ? {} : { authorizationDetails: parseAuthorizationDetails(details) };
  if (grantType === AUTHORIZATION_CODE_GRANT) {
    const [code, clientId, redirectUri] = [needed('code'), needed('client_id'), needed('redirect_uri')];
    const codeVerifier = value('code_verifier');
    // RFC 7636 §4.6: what does not show that it asked for the code has no right to it.
    if (codeVerifier === undefined)
      throw oauthError('invalid_grant', 'code_verifier is missing', { check: 'parse-token-request' });
    return { grant: 'authorizationCode', code, clientId, redirectUri, codeVerifier, ...asked };
  }
  const code = needed('pre-authorized_code');
  const transactionCode = value('tx_code');
  return {
    grant: 'preAuthorizedCode',
    code,
    ...(transactionCode !== undefined && { transactionCode }),
    ...asked,
  };
};

const MEMBERS = new Set(['type', 'credential_configuration_id', 'claims', 'locations']);

/** RFC 9396 §5: unknown types, unknown members and wrong types of members are refused. */
export const parseAuthorizationDetails = (text: string): RequestedDetail[] => {
  let details: unknown;
  try {
    details = JSON.parse(text);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw refused('authorization_details must be JSON');
  }
  if (!Array.isArray(details) || details.length === 0 || details.length > 100)
    throw refused('authorization_details must be an array of 1 to 100 objects');
  return details.map((detail: unknown) => {
    if (!isObject(detail)) throw refused('authorization_details must hold objects');
    if (detail['type'] !== 'openid_credential') throw refused('the type must be openid_credential');
    if (Object.keys(detail).some((member) => !MEMBERS.has(member)))
      throw refused('an authorization details object has an unknown member');
    const id = detail['credential_configuration_id'];
    if (typeof id !== 'string' || id === '') throw refused('credential_configuration_id must be a string');
    for (const member of ['claims', 'locations'])
      if (detail[member] !== undefined && !Array.isArray(detail[member])) throw refused(`${member} must be an array`);
    return { credentialConfigurationId: id };
  });
};

const refused = (description: string) =>
  oauthError('invalid_authorization_details', description, { check: 'parse-token-request' });
