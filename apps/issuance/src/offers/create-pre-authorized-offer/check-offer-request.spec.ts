import { MAX_CLAIMS_BYTES, MAX_OFFER_BYTES, type AppError, type PreAuthorizedOfferRequest } from '@attestry/contracts';
import { checkOfferRequest } from './check-offer-request.js';

const id = '11111111-1111-4111-8111-111111111111';
const request = (more: object = {}): PreAuthorizedOfferRequest => ({ credentials: [id], ...more });
const entry = { configurationId: id, claimSets: [] };
const body = (param: string, msg: string, value?: unknown) => ({
  msg,
  param,
  location: 'body',
  ...(value !== undefined && { value }),
});
const withDescription = (description: string | null | undefined) =>
  request({ transactionCodeConfiguration: { description } });

describe('the request of a pre-authorized offer', () => {
  it('is checked with its defaults', () =>
    expect(checkOfferRequest(request())).toEqual({ entries: [entry], seconds: 300, claims: {}, stored: {} }));

  it.each([
    [{ minutes: 10 }, 600],
    [{ minutes: 1, seconds: 1 }, 61],
    [{ seconds: 1 }, 1],
  ])('is open for %j', (expiresIn, seconds) =>
    expect(checkOfferRequest(request({ expiresIn }))).toMatchObject({ seconds }),
  );

  it('keeps all claims as ordinary members, also __proto__', () => {
    const claims = JSON.parse('{"__proto__":{"a":1},"name":"Ann","age":3}');
    const { stored } = checkOfferRequest(request({ claims, claimsToPersist: ['__proto__', 'name'] }));
    expect(JSON.stringify(stored)).toBe('{"__proto__":{"a":1},"name":"Ann"}');
    for (const member of Object.values(Object.getOwnPropertyDescriptors(stored)))
      expect(member).toMatchObject({ enumerable: true, configurable: true, writable: true });
  });

  it.each([
    [
      { credentials: [{ credentialConfigurationId: id, claimSets: [] }] },
      body('credentials.0.claimSets', 'must be an array of at least one claim set'),
    ],
    [
      { credentials: ['x'] },
      body('credentials', 'must be ids of credential configurations or objects with claim sets', 'x'),
    ],
    [
      { credentials: [null] },
      body('credentials', 'must be ids of credential configurations or objects with claim sets', null),
    ],
    [{ credentials: [id, id] }, body('credentials', 'must not repeat a configuration', id)],
    [{ expiresIn: {} }, body('expiresIn', 'must be more than 0 and at most 10 minutes, as minutes and seconds', {})],
    [
      { expiresIn: { minutes: 10, seconds: 1 } },
      body('expiresIn', 'must be more than 0 and at most 10 minutes, as minutes and seconds', {
        minutes: 10,
        seconds: 1,
      }),
    ],
    [
      { transactionCodeConfiguration: { description: '\ud800' } },
      body('transactionCodeConfiguration.description', 'must be well-formed Unicode'),
    ],
    [{ claimsToPersist: ['toString'] }, body('claimsToPersist', 'must be the name of a member of claims', 'toString')],
  ])('is refused with %j', (more, detail) =>
    expect(() => checkOfferRequest(request(more))).toThrow(
      expect.objectContaining({ kind: 'invalid', details: [detail] }),
    ),
  );

  it('is refused without the value of a claim or a description', () => {
    expect.assertions(1);
    try {
      checkOfferRequest(request({ transactionCodeConfiguration: { description: '\ud800' } }));
    } catch (error) {
      const detail = {
        msg: 'must be well-formed Unicode',
        param: 'transactionCodeConfiguration.description',
        location: 'body',
      };
      expect((error as AppError).details).toStrictEqual([detail]);
    }
  });

  it('treats configuration ids that differ only in case as repeated', () => {
    const upper = 'ABCDEF11-1111-4111-8111-111111111111';
    expect(checkOfferRequest(request({ credentials: [upper] })).entries).toEqual([
      { configurationId: upper.toLowerCase(), claimSets: [] },
    ]);
    expect(() => checkOfferRequest(request({ credentials: [upper, upper.toLowerCase()] }))).toThrow(
      expect.objectContaining({
        details: [body('credentials', 'must not repeat a configuration', upper.toLowerCase())],
      }),
    );
  });

  it('is refused with all its faults at once', () =>
    expect(() => checkOfferRequest(request({ credentials: ['x'], expiresIn: {} }))).toThrow(
      expect.objectContaining({
        details: [expect.objectContaining({ param: 'credentials' }), expect.objectContaining({ param: 'expiresIn' })],
      }),
    ));

  it.each([null, undefined, 'as text'])('accepts %j as the description of its transaction code', (description) =>
    expect(() => checkOfferRequest(withDescription(description))).not.toThrow(),
  );

  it('accepts claims up to 384 KiB, and not a byte more', () => {
    const keeping = (text: string) => () =>
      checkOfferRequest(request({ claims: { text }, claimsToPersist: ['text'] })).stored;
    const most = 'a'.repeat(MAX_CLAIMS_BYTES - JSON.stringify({ text: '' }).length);
    expect(keeping(most)()).toEqual({ text: most });
    expect(keeping(`${most}a`)).toThrow(
      expect.objectContaining({ details: [body('claimsToPersist', 'must name at most 384 KiB of claims')] }),
    );
  });

  it('is at most 500 KB, and not a byte more', () => {
    const sized = (text: string) => request({ claims: { text } });
    const most = 'a'.repeat(MAX_OFFER_BYTES - JSON.stringify(sized('')).length);
    expect(() => checkOfferRequest(sized(most))).not.toThrow();
    expect(() => checkOfferRequest(sized(`${most}a`))).toThrow(
      expect.objectContaining({
        kind: 'tooLarge',
        message: 'Payload Too Large: the offer must have at most 512000 bytes',
      }),
    );
  });
});
