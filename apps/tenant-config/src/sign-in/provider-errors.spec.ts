import { causeOf, ProviderRefused, refusedBy, registeredCode } from './provider-errors.js';

const by = (status: number, body: unknown) =>
  refusedBy(status, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));

describe('a refusal of a provider', () => {
  it('has the registered code, and 200 printable characters of the description [T755]', () => {
    const error_description = `zoé\n\u001b[31m${'x'.repeat(300)}`;
    const { code, description, status } = by(400, { error: 'invalid_client', error_description });
    expect([status, code, description?.slice(0, 10), description?.length]).toEqual([
      400,
      'invalid_client',
      'zo???[31mx',
      200,
    ]);
    expect(by(400, { error: 'own', error_description: 'x' })).toMatchObject({ code: undefined, description: 'x' });
  });

  it.each(['', 'x', 'null', '[]', '1', '"error"', '{"error":1,"error_description":"x"}', '{"error_description":"x"}'])(
    'has no text of %s [T755]',
    (body) => expect(by(400, body)).toMatchObject({ status: 400, code: undefined, description: undefined }),
  );

  it('is one of the client by its status or code', () => {
    expect([by(401, ''), by(400, { error: 'unauthorized_client' })].map(({ isOfClient }) => isOfClient)).toEqual([
      true,
      true,
    ]);
    expect(by(400, { error: 'invalid_grant' }).isOfClient).toBe(false);
    expect(registeredCode('toString')).toBeUndefined();
  });

  it('is found among the causes', () => {
    const refused = new ProviderRefused(400);
    expect(causeOf(new Error('a', { cause: new Error('b', { cause: refused }) }), ProviderRefused)).toBe(refused);
    expect(causeOf(new Error('a', { cause: 'text' }), ProviderRefused)).toBeUndefined();
  });
});
