import { AppError } from '@attestry/contracts';
import { parseTokenRequest } from './token-request.js';

const valid = { client_id: 'id', client_secret: 'hunter2-hunter2', grant_type: 'client_credentials' };
const refused = (body: object): AppError => {
  try {
    parseTokenRequest(body);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('was not refused');
};

describe('a token request', () => {
  it('is parsed', () => {
    expect(parseTokenRequest({ ...valid, audience: 'a.b' })).toEqual({
      clientId: 'id',
      clientSecret: 'hunter2-hunter2',
      audience: 'a.b',
    });
  });

  it.each([undefined, null, ''])('has no audience when the member is %j', (audience) =>
    expect(parseTokenRequest({ ...valid, audience })).not.toHaveProperty('audience'),
  );

  it.each([
    [{}, 'Missing: client_id, client_secret, grant_type'],
    [{ ...valid, client_id: '' }, 'Missing: client_id'],
    [{ ...valid, client_secret: null }, 'Missing: client_secret'],
    [{ ...valid, grant_type: undefined }, 'Missing: grant_type'],
    [{ ...valid, client_id: 5 }, 'Must be a string: client_id'],
    [{ ...valid, client_secret: ['hunter2-hunter2'] }, 'Must be a string: client_secret'],
    [{ ...valid, grant_type: {}, audience: false }, 'Must be a string: grant_type, audience'],
  ])('%j is an invalid_request', (body, message) => {
    const error = refused(body);
    expect(error.toWire()).toEqual({ kind: 'invalid', code: 'invalid_request', message });
  });

  it.each(['password', 'CLIENT_CREDENTIALS', 'client_credentials ', 'toString'])(
    'with the grant type %j is an unsupported_grant_type',
    (grant) =>
      expect(refused({ ...valid, grant_type: grant })).toMatchObject({
        kind: 'invalid',
        code: 'unsupported_grant_type',
      }),
  );
});
