import { notFound } from '@attestry/contracts';
import { appErrorOf, methodNotAllowed } from './errors.js';

describe('an error', () => {
  it('of a step is used unchanged', () => {
    const error = notFound();
    expect(appErrorOf(error)).toBe(error);
  });

  it.each([
    [{ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, 'timeout'],
    [{ code: 'FST_ERR_CTP_BODY_TOO_LARGE' }, 'tooLarge'],
    [{ code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' }, 'unsupportedMediaType'],
    [{ code: 'FST_ERR_CTP_EMPTY_TYPE' }, 'unsupportedMediaType'],
    [{ code: 'FST_ERR_CTP_INVALID_CONTENT_LENGTH' }, 'invalid'],
    [{ code: 'FST_ERR_BAD_URL', statusCode: 400 }, 'invalid'],
    [{ code: 'ECONNRESET' }, 'internal'],
    [new Error('a fault'), 'internal'],
  ])('of the server is named by its kind: %j', (error, kind) => {
    expect(appErrorOf(error).kind).toBe(kind);
  });

  it('of the method names the allowed methods', () => {
    expect(methodNotAllowed(['GET', 'HEAD']).headers).toEqual({ allow: 'GET, HEAD' });
  });
});
