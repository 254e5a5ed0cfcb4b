import { AppError } from '@attestry/contracts';
import { parseTokenExchange } from './parse-token-exchange.js';

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const good = { subject_token: 'a.b.c', subject_token_type: ACCESS_TOKEN, audience: 'https://acme.example' };

const refused = (body: object): [string, string] => {
  try {
    parseTokenExchange(body);
  } catch (error) {
    if (error instanceof AppError) return [error.code, error.message];
    throw error;
  }
  throw new Error('was not refused');
};

describe('a token exchange', () => {
  it.each([
    {},
    { requested_token_type: ACCESS_TOKEN },
    { requested_token_type: '', client_secret: '', scope: '' },
    { client_id: 'attestry-cli', unknown: ['x', 'y'] },
    { audience: 'x'.repeat(300) },
  ])('has a subject token and an audience; other members are ignored: %j', (more) => {
    const { audience } = { ...good, ...more };
    expect(parseTokenExchange({ ...good, ...more })).toEqual({ subjectToken: 'a.b.c', audience });
  });

  it('without members names all that are missing', () => {
    expect(refused({})).toEqual(['invalid_request', 'Missing: subject_token, subject_token_type, audience']);
    expect(refused({ ...good, audience: '' })).toEqual(['invalid_request', 'Missing: audience']);
  });

  it.each([
    ['client_secret', 'a token exchange has no client authentication'],
    ['client_assertion', 'a token exchange has no client authentication'],
    ['actor_token', 'there is no delegation'],
    ['actor_token_type', 'there is no delegation'],
    ['resource', 'audience names the tenant'],
    ['scope', 'the roles of the member are read at each call'],
  ])('with %s is refused', (member, reason) => {
    for (const value of ['x', ['x', 'y']])
      expect(refused({ ...good, [member]: value })).toEqual([
        'invalid_request',
        `${member} must not be sent: ${reason}`,
      ]);
  });

  it.each(['subject_token', 'subject_token_type', 'requested_token_type'])('with %s twice is refused', (member) => {
    const twice = [ACCESS_TOKEN, ACCESS_TOKEN];
    expect(refused({ ...good, [member]: twice })).toEqual(['invalid_request', `${member} must be sent once`]);
  });

  it.each(['subject_token_type', 'requested_token_type'])('with another %s is refused', (member) => {
    for (const value of [`${ACCESS_TOKEN} `, 'urn:ietf:params:oauth:token-type:jwt'])
      expect(refused({ ...good, [member]: value })).toEqual(['invalid_request', `${member} must be ${ACCESS_TOKEN}`]);
  });

  it('has one audience of at most 300 characters', () => {
    expect(refused({ ...good, audience: [good.audience, good.audience] })).toEqual([
      'invalid_target',
      'audience must be sent once',
    ]);
    expect(refused({ ...good, audience: 'x'.repeat(301) })).toEqual([
      'invalid_target',
      'audience must have at most 300 characters',
    ]);
  });
});
