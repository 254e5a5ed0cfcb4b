import { mediaTypeOf, oauthError, TOKEN_EXCHANGE } from '@attestry/contracts';
import { authUrlOf } from '../interface/host-addresses.js';
import { parseTokenExchange } from '../operation/parse-token-exchange.js';
import { applyRate, checkPublicCalls } from './apply-rate.js';
import type { Dependencies } from './dependencies.js';
import type { Admitted } from './exchange.js';
import { clientIdOf } from './limit-caller.js';
import { readBody } from './read-body.js';

type Used = Pick<Dependencies, 'authenticate' | 'rates' | 'config'>;

/** Whether a token call is a token exchange (RFC 8693 §2.1). */
export const isTokenExchange = (exchange: Admitted): boolean =>
  (readBody(exchange) as { grant_type?: unknown } | null | undefined)?.grant_type === TOKEN_EXCHANGE;

/**
 * Token exchange: the subject token → the person. Exchanges are counted for the person, so that they use up the limit of no client.
 * @throws AppError 400 for a request or a subject token that cannot be used; 429; 503 when the token cannot be checked
 */
export const identifySubject = (exchange: Admitted, deps: Used): void | Promise<void> => {
  if (isTokenExchange(exchange)) return identify(exchange, deps);
};

const identify = async (exchange: Admitted, deps: Used): Promise<void> => {
  const { host, request, deadline } = exchange;
  if (host.api !== 'auth')
    throw oauthError(
      'unsupported_grant_type',
      `Tokens are exchanged at an authorization host: ${authUrlOf(deps.config, host.publicUrl)}/oauth/token`,
    );
  if (mediaTypeOf(request.headers['content-type']) !== 'application/x-www-form-urlencoded')
    throw oauthError('invalid_request', 'A token exchange must be sent as application/x-www-form-urlencoded');
  const { subjectToken, audience } = parseTokenExchange(readBody(exchange) as object);
  const beforeCheck = () => checkPublicCalls(exchange, deps);
  const subject = await deps.authenticate.subject(subjectToken, deadline, beforeCheck);
  exchange.tokenClientId = clientIdOf({ kind: 'user', userId: subject.userId })!;
  await applyRate(exchange, deps.rates.tokenCalls(exchange.tokenClientId));
  exchange.subject = { ...subject, audience };
};
