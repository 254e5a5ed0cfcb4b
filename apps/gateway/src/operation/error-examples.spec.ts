import {
  AppError,
  conflict,
  forbidden,
  headersTooLarge,
  invalidBody,
  MAX_BODY_BYTES,
  notFound,
  oauthError,
  tooLarge,
  unauthenticated,
  unavailable,
  type ErrorKind,
} from '@attestry/contracts';
import { interfaceDocuments, isRecording, setErrorExample, writeExamples } from '@attestry/testing';
import { renderError } from './render-error.js';

/** An error of each kind, as the platform throws it. */
const ERRORS: Partial<Record<ErrorKind, AppError>> = {
  invalid: invalidBody('name', 'must not be empty', ''),
  unauthenticated: unauthenticated(),
  forbidden: forbidden('The caller needs the role admin on the tenant'),
  notFound: notFound(),
  notAcceptable: new AppError('notAcceptable', 'Accept must allow application/statuslist+jwt'),
  timeout: new AppError('timeout', 'Request Timeout'),
  conflict: conflict('The first call with this Idempotency-Key is still in progress', [
    { msg: 'belongs to a call that is still in progress', param: 'Idempotency-Key', location: 'headers' },
  ]),
  gone: new AppError('gone', 'The status list ended at 2026-01-15T09:30:00.000Z'),
  unprocessable: new AppError('unprocessable', 'This Idempotency-Key was used for another request', {
    details: [{ msg: 'was used for another request', param: 'Idempotency-Key', location: 'headers' }],
  }),
  tooLarge: tooLarge('the body', MAX_BODY_BYTES),
  headersTooLarge: headersTooLarge(),
  unsupportedMediaType: new AppError('unsupportedMediaType', 'Unsupported Media Type: expected application/json'),
  tooManyRequests: new AppError('tooManyRequests', 'Too Many Requests'),
  internal: new AppError('internal', 'Internal error'),
  notImplemented: new AppError(
    'notImplemented',
    'time must be from 1768469400 to 1768473000: earlier statuses are not kept',
  ),
  unavailable: unavailable(),
};
const OAUTH_ERRORS: Partial<Record<ErrorKind, AppError>> = {
  ...ERRORS,
  invalid: oauthError('invalid_request', 'grant_type is missing'),
  unauthenticated: oauthError('access_denied', 'Unauthorized'),
  forbidden: oauthError('insufficient_scope', 'the access token does not cover this credential configuration'),
};

describe('the example of an error in the interface definitions', () => {
  const documents = interfaceDocuments();
  const responses = Object.assign({}, ...documents.map(({ components }) => components.responses)) as Record<
    string,
    { content: Record<string, { example?: unknown }> }
  >;
  const names = Object.keys(responses).filter((name) => responses[name]!.content['application/json']);
  const recorded = Object.fromEntries(
    names.map((name) => {
      const [, shape, kind] = /^(Tenant|Management|OAuth)(.+)$/.exec(name)!;
      const error = (shape === 'OAuth' ? OAUTH_ERRORS : ERRORS)[
        (kind![0]!.toLowerCase() + kind!.slice(1)) as ErrorKind
      ]!;
      return [name, JSON.parse(renderError(error, shape!.toLowerCase() as 'tenant').body) as unknown] as const;
    }),
  );
  afterAll(() => {
    if (!isRecording) return;
    writeExamples((document) => {
      for (const [name, example] of Object.entries(recorded)) setErrorExample(document, name, example);
    });
  });

  it.each(names)('is the body that the gateway renders: %s', (name) => {
    if (isRecording) return;
    expect(responses[name]!.content['application/json']!.example).toEqual(recorded[name]);
  });
});
