import { MAX_CLAIM_SETS_BYTES, type OfferRequest } from '@attestry/contracts';
import { checkOffer } from './check-offer.js';

const id = '11111111-1111-4111-8111-111111111111';
const now = new Date('2026-05-01T10:00:00.000Z');
const checked = (more: Partial<OfferRequest> = {}) => checkOffer({ credentials: [id], ...more }, now);
const withText = (text: string) => [{ credentialConfigurationId: id, claimSets: [{ claims: { text } }] }];

describe('an offer of the authorization code flow', () => {
  it('is not stored when it only names configurations [T274]', () =>
    expect(checked({ request_parameters: { prompt: 'login' } })).toEqual({
      entries: [{ configurationId: id, claimSets: [] }],
    }));

  it.each<[string, Partial<OfferRequest>, string]>([
    ['claim sets', { credentials: withText('x') }, '2026-05-31T10:00:00.000Z'],
    ['a user', { userId: id }, '2026-05-31T10:00:00.000Z'],
    ['an expiry', { expiresAt: '2027-05-01T12:00:00+02:00' }, '2027-05-01T10:00:00.000Z'],
    [
      'all',
      { credentials: withText('x'), userId: id, expiresAt: '2026-05-01T10:00:00.001Z' },
      '2026-05-01T10:00:00.001Z',
    ],
  ])('is stored with %s [T274]', (_, more, expiresAt) => expect(checked(more).expiresAt).toBe(expiresAt));

  it.each(['2026-05-01T10:00:00.000Z', '2020-01-01', '2027-05-01T10:00:00.001Z'])(
    'must not expire at %s',
    (expiresAt) =>
      expect(() => checked({ expiresAt })).toThrow(
        expect.objectContaining({
          kind: 'invalid',
          details: [
            {
              value: expiresAt,
              msg: 'must be in the future and at most 365 days from now',
              param: 'expiresAt',
              location: 'body',
            },
          ],
        }),
      ),
  );

  it('has at most 384 KiB of claim sets, and not a byte more', () => {
    const most = 'a'.repeat(MAX_CLAIM_SETS_BYTES - JSON.stringify([{ claims: { text: '' } }]).length);
    expect(() => checked({ credentials: withText(most) })).not.toThrow();
    expect(() => checked({ credentials: withText(`${most}a`) })).toThrow(
      expect.objectContaining({
        details: [{ msg: 'must have at most 384 KiB of claim sets', param: 'credentials', location: 'body' }],
      }),
    );
  });

  it('is refused with all its faults at once', () =>
    expect(() => checked({ credentials: ['x'], expiresAt: '2020-01-01' })).toThrow(
      expect.objectContaining({
        details: [expect.objectContaining({ param: 'credentials' }), expect.objectContaining({ param: 'expiresAt' })],
      }),
    ));
});
