import { ACCESS_TOKEN_TYPE, MAX_AUDIENCE, oauthError } from '@attestry/contracts';

const REQUIRED = ['subject_token', 'subject_token_type', 'audience'] as const;
/** Members of RFC 6749 and RFC 8693 that would change what is asked for: ignoring them would mislead the caller. */
const REFUSED = {
  client_secret: 'a token exchange has no client authentication',
  client_assertion: 'a token exchange has no client authentication',
  actor_token: 'there is no delegation',
  actor_token_type: 'there is no delegation',
  resource: 'audience names the tenant',
  scope: 'the roles of the member are read at each call',
} as const;

/**
 * A token exchange (RFC 8693 §2.1), from a form. Other members are ignored (RFC 6749 §3.2), `client_id` too.
 * @throws oauthError naming the member; never with values
 */
export const parseTokenExchange = (body: object): { subjectToken: string; audience: string } => {
  const given = body as Record<string, unknown>;
  // RFC 6749 §3.2: a parameter without a value counts as omitted, and each is sent once.
  const isSent = (member: string) => given[member] !== undefined && given[member] !== '';
  const missing = REQUIRED.filter((member) => !isSent(member));
  if (missing.length) throw oauthError('invalid_request', `Missing: ${missing.join(', ')}`);
  for (const [member, reason] of Object.entries(REFUSED))
    if (isSent(member)) throw oauthError('invalid_request', `${member} must not be sent: ${reason}`);
  for (const member of ['subject_token', 'subject_token_type', 'requested_token_type'])
    if (Array.isArray(given[member])) throw oauthError('invalid_request', `${member} must be sent once`);
  for (const member of ['subject_token_type', 'requested_token_type'])
    if (isSent(member) && given[member] !== ACCESS_TOKEN_TYPE)
      throw oauthError('invalid_request', `${member} must be ${ACCESS_TOKEN_TYPE}`);
  const { subject_token: subjectToken, audience } = given as { subject_token: string; audience: unknown };
  // RFC 8693 §2.2.2: several targets that the token cannot be issued for.
  if (typeof audience !== 'string') throw oauthError('invalid_target', 'audience must be sent once');
  if (audience.length > MAX_AUDIENCE)
    throw oauthError('invalid_target', `audience must have at most ${MAX_AUDIENCE} characters`);
  return { subjectToken, audience };
};
