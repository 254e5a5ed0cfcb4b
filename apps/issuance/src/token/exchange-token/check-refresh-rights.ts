import { oauthError } from '@attestry/contracts';
import { scopeOf } from '../../sessions/issuance-session/issuance-session.decisions.js';
import type { RedeemedSession } from '../../sessions/issuance-session/issuance-session.state.js';
import type { RefreshTokenRequest } from './parse-token-request.js';

/**
 * RFC 6749 §6, RFC 9396 §6.1: the new access token has all rights of the session, or fewer.
 * @returns what it covers of the session's identifiers or entries, by index; undefined: all
 * @throws AppError 400
 */
export const checkRefreshRights = (
  {
    identifiers,
    authorizationDetails: details,
    entries,
  }: Pick<RedeemedSession, 'identifiers' | 'authorizationDetails' | 'entries'>,
  { scopes, authorizationDetails: requested }: Pick<RefreshTokenRequest, 'scopes' | 'authorizationDetails'>,
): number[] | undefined => {
  const granted = (details ?? entries).map(({ credentialConfigurationId: id }) => id);
  if (requested) {
    if (identifiers)
      throw refused('authorization_details must not be sent: the issuer chose the credentials of the offer');
    if (!details) throw refused('authorization_details must not be sent: the grant has a scope only');
    const ids = requested.map(({ credentialConfigurationId: id }) => id);
    if (!ids.every((id) => granted.includes(id))) throw refused('credential_configuration_id was not granted');
    if (new Set(ids).size < ids.length) throw refused('credential_configuration_id must not be repeated');
  }
  const grantedScopes = scopeOf(entries, details).split(' ');
  if (scopes && !scopes.every((scope) => grantedScopes.includes(scope)))
    throw invalidScope('scope must not exceed the scope that was granted');
  const scopeById = new Map(entries.map(({ credentialConfigurationId: id, scope }) => [id, scope]));
  const covered = [...granted.keys()].filter((index) => {
    const id = granted[index]!;
    const isRequested = !requested || requested.some((one) => one.credentialConfigurationId === id);
    return isRequested && (!scopes || scopes.includes(scopeById.get(id)!));
  });
  if (covered.length === 0) throw invalidScope('scope and authorization_details have no credential in common');
  return covered.length < granted.length ? covered : undefined;
};

const refused = (description: string) =>
  oauthError('invalid_authorization_details', description, { check: 'check-refresh-rights' });
const invalidScope = (description: string) =>
  oauthError('invalid_scope', description, { check: 'check-refresh-rights' });
