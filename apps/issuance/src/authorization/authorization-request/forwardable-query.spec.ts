import { forwardableQuery } from './forwardable-query.js';

describe('the parameters that a provider can get', () => {
  const kept = (parameters: Record<string, string>) => forwardableQuery(new URLSearchParams(parameters));

  it('are those that the platform does not send itself', () =>
    expect(kept({ client_id: 'w', state: 's', code_challenge: 'c', login_hint: 'zoe', ui_locales: 'de fr' })).toBe(
      'login_hint=zoe&ui_locales=de+fr',
    ));

  it('are bounded, each and in total', () => {
    expect(kept({ login_hint: 'x'.repeat(1001), prompt: 'login' })).toBe('prompt=login');
    expect(kept({ login_hint: 'x'.repeat(1000) })).toHaveLength(1011);
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`p${n}`, 'x'.repeat(1000)]));
    expect(
      kept(many)
        .split('&')
        .map((one) => one.slice(0, 2)),
    ).toEqual(['p0', 'p1', 'p2', 'p3']);
  });
});
