import {
  AppError,
  forbidden,
  invalidBody,
  insufficientUserAuthentication,
  invalidToken,
  notFound,
  oauthError,
  unauthenticated,
  unavailable,
} from '@attestry/contracts';
import { renderError } from './render-error.js';

const secretCause = new AppError('internal', 'Internal error', { cause: new Error('password is hunter2') });

describe('tenant errors', () => {
  it('are JSON with code, message and details', () => {
    const { status, headers, body } = renderError(invalidBody('url', 'must use https', 'http://x'), 'tenant');
    expect(status).toBe(400);
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(JSON.parse(body)).toEqual({
      code: 'BadRequest',
      message: 'Validation Error',
      details: [{ value: 'http://x', msg: 'must use https', param: 'url', location: 'body' }],
    });
    expect(JSON.parse(renderError(notFound(), 'tenant').body)).toEqual({
      code: 'NotFound',
      message: 'Resource Not Found',
    });
  });

  it.each([
    [401, 'Unauthorized', 'The request has no access token', 'Bearer', unauthenticated()],
    [
      401,
      'Unauthorized',
      'The access token has expired',
      'Bearer error="invalid_token", error_description="The access token has expired"',
      invalidToken('The access token has expired'),
    ],
    [
      403,
      'Forbidden',
      'no ?quoted? text',
      'Bearer error="insufficient_scope", error_description="no ?quoted? text"',
      forbidden('no "quoted" text'),
    ],
  ])('have the reason of the challenge: %i %s, %s [T647]', (status, code, message, challenge, error) => {
    const refused = renderError(error, 'tenant');
    expect(refused).toMatchObject({ status, headers: { 'www-authenticate': challenge } });
    expect(refused.headers['content-type']).toMatch(/^application\/json/);
    expect(JSON.parse(refused.body)).toEqual({ code, message });
  });
});

describe('management errors', () => {
  it.each([
    ['an invalid body', 400, 'BadRequest', 'ValidationError', invalidBody('name', 'is required')],
    ['a missing token', 401, 'Unauthorized', 'AuthenticationError', unauthenticated()],
    ['an invalid token', 401, 'Unauthorized', 'AuthenticationError', invalidToken('has expired')],
    ['a missing role', 403, 'Forbidden', 'AuthorizationError', forbidden('needs a role')],
    ['an unknown resource', 404, 'NotFound', 'NotFoundError', notFound()],
    ['an unavailable service', 503, 'ServiceUnavailable', 'AvailabilityError', unavailable()],
  ])('for %s are JSON with status %i, code %s and type %s', (_what, status, code, type, error) => {
    const rendered = renderError(error, 'management');
    expect(rendered.status).toBe(status);
    expect(JSON.parse(rendered.body)).toMatchObject({ code, type, message: error.message });
    expect(Array.isArray((JSON.parse(rendered.body) as { details: unknown }).details)).toBe(true);
  });
});

describe('the challenge of a refused token', () => {
  it.each([
    ['Bearer', unauthenticated()],
    ['Bearer error="invalid_token", error_description="has expired"', invalidToken('has expired')],
    ['Bearer error="insufficient_scope", error_description="needs a role"', forbidden('needs a role')],
    // RFC 9470 §3
    [
      'Bearer error="insufficient_user_authentication", error_description="acr must be 2", acr_values="2 3"',
      insufficientUserAuthentication('acr must be 2', 'check-user-token', ['2', '3']),
    ],
    [
      'Bearer error="insufficient_user_authentication", error_description="amr must be ?mfa?"',
      insufficientUserAuthentication('amr must be "mfa"', 'check-user-token', []),
    ],
    // RFC 6750 §3: neither quotes and backslashes nor control characters end the value or the header.
    ['Bearer error="invalid_token", error_description="a?b?c??x: ?"', invalidToken('a"b\\c\r\nx: é')],
  ])('is %s', (challenge, error) => {
    for (const shape of ['tenant', 'management', 'oauth'] as const)
      expect(renderError(error, shape).headers['www-authenticate']).toBe(challenge);
  });
});

describe('OAuth errors', () => {
  it('have the body of RFC 6749', () => {
    const { status, body } = renderError(oauthError('invalid_grant', 'the code is spent'), 'oauth');
    expect(status).toBe(400);
    expect(JSON.parse(body)).toEqual({ error: 'invalid_grant', error_description: 'the code is spent' });
  });

  it.each([
    [401, 'access_denied', oauthError('access_denied', 'Unauthorized')],
    [401, 'invalid_token', oauthError('invalid_token', 'expired')],
    [403, 'insufficient_scope', oauthError('insufficient_scope', 'no')],
    [413, 'invalid_request', new AppError('tooLarge', 'Payload Too Large')],
    [429, 'temporarily_unavailable', new AppError('tooManyRequests', 'Too Many Requests')],
    [503, 'temporarily_unavailable', unavailable()],
    [500, 'server_error', secretCause],
  ])('with status %i have the code %s', (status, code, error) => {
    const rendered = renderError(error, 'oauth');
    expect(rendered.status).toBe(status);
    expect(JSON.parse(rendered.body)).toMatchObject({ error: code });
  });

  it('name the first invalid member', () => {
    const { body } = renderError(invalidBody('client_id', 'must have strings of at most 4096 characters'), 'oauth');
    expect(JSON.parse(body)).toEqual({
      error: 'invalid_request',
      error_description: 'client_id must have strings of at most 4096 characters',
    });
  });

  it('contain only the characters that RFC 6749 allows', () => {
    const { body } = renderError(oauthError('invalid_request', 'näh "quoted" \\ \n'), 'oauth');
    expect((JSON.parse(body) as { error_description: string }).error_description).toBe('n?h ?quoted? ? ?');
  });
});

it.each(['tenant', 'management', 'oauth'] as const)('errors of the shape %s do not contain their cause', (shape) => {
  const { body, headers } = renderError(secretCause, shape);
  expect(JSON.stringify([body, headers])).not.toContain('hunter2');
});
