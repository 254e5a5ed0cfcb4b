import { AppError } from '@attestry/contracts';
import { parseRevocationRequest } from './revocation-request.js';

const valid = { token: 'a.b.c', client_id: 'id', client_secret: 'hunter2-hunter2' };
const refused = (body: object): AppError => {
  try {
    parseRevocationRequest(body);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('was not refused');
};

describe('a revocation request', () => {
  it.each([undefined, 'access_token', 'refresh_token', 'anything', ['a', 'b']])(
    'is parsed with the token_type_hint %j',
    (hint) =>
      expect(parseRevocationRequest({ ...valid, token_type_hint: hint })).toEqual({
        token: 'a.b.c',
        clientId: 'id',
        clientSecret: 'hunter2-hunter2',
      }),
  );

  it.each([
    [{}, 'Missing: token, client_id, client_secret'],
    [{ ...valid, token: '' }, 'Missing: token'],
    [{ ...valid, client_secret: undefined }, 'Missing: client_secret'],
    [{ ...valid, token: ['a', 'b'] }, 'Must be sent once: token'],
    [
      { ...valid, client_id: ['a', 'b'], client_secret: ['hunter2-hunter2', ''] },
      'Must be sent once: client_id, client_secret',
    ],
  ])('%j is an invalid_request', (body, message) =>
    expect(refused(body).toWire()).toEqual({ kind: 'invalid', code: 'invalid_request', message }),
  );
});
