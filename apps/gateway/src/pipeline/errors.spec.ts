import { notFound } from '@attestry/contracts';
import { appErrorOf, methodNotAllowed } from './errors.js';

describe('an error', () => {
  it('of a step is used unchanged', () => {
    const error = notFound();
    expect(appErrorOf(error)).toBe(error);
  });

  it.each([
    [{ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, 'timeout', 'Request Timeout'],
    [{ code: 'FST_ERR_CTP_BODY_TOO_LARGE' }, 'tooLarge', 'Payload Too Large: the body must have at most 1048576 bytes'],
    [{ code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' }, 'unsupportedMediaType', 'Unsupported Media Type'],
    [{ code: 'FST_ERR_CTP_EMPTY_TYPE' }, 'unsupportedMediaType', 'Unsupported Media Type'],
    [{ code: 'FST_ERR_CTP_INVALID_CONTENT_LENGTH' }, 'invalid', 'Malformed request'],
    [{ code: 'FST_ERR_BAD_URL', statusCode: 400 }, 'invalid', 'Malformed request'],
    [{ code: 'ECONNRESET' }, 'internal', 'Internal error'],
    [new Error('a fault'), 'internal', 'Internal error'],
  ])('of the server with the members %j has the kind %s', (error, kind, message) => {
    expect(appErrorOf(error)).toMatchObject({ kind, message });
  });

  it('of the method names the allowed methods', () => {
    for (const [allowed, named] of [
      [['GET'], 'GET'],
      [['GET', 'HEAD'], 'GET or HEAD'],
      [['GET', 'HEAD', 'POST'], 'GET, HEAD or POST'],
    ] as const)
      expect(methodNotAllowed(allowed)).toMatchObject({
        message: `Method Not Allowed: use ${named}`,
        headers: { allow: allowed.join(', ') },
      });
  });
});
