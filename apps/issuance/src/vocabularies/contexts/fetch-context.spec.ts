import {
  AnswerTooLarge,
  checkTargetUrl,
  DnsBudgetExceeded,
  TargetRefused,
  type OutboundAnswer,
} from '@attestry/service-kit';
import { ContextRefused, fetchContext } from './fetch-context.js';

const NAMED = 'https://acme.example.org/context';
const TEXT = '{"@context":{}}';
const UNREACHABLE =
  'could not be fetched: the address, or one that it leads to, is not allowed or cannot be reached; allowed are public https addresses';

type Answer = Partial<Omit<OutboundAnswer, 'body'>> & { body?: string | Uint8Array };
const json = (body = TEXT): Answer => ({ headers: { 'content-type': 'application/ld+json' }, body });
const redirect = (location?: string, status = 302): Answer => ({
  status,
  headers: location === undefined ? {} : { location },
});
const page = (link?: string, type = 'text/html; charset=utf-8'): Answer => ({
  headers: { 'content-type': type, ...(link !== undefined && { link }) },
  body: '<html></html>',
});
const ALTERNATE = '</alternate.jsonld>; rel="alternate"; type="application/ld+json"';

/** Fetches from these answers, by address; an error is what the client throws. */
const fetchFrom = async (answers: Record<string, Answer | Error>, url = NAMED) => {
  const requested: string[] = [];
  const outbound = {
    checkUrl: (text: string) => checkTargetUrl(text, false),
    send: async (at: string, options: { timeoutMs: number; maxBytes: number }) => {
      requested.push(at);
      expect(options).toMatchObject({ tenantId: 't1', maxBytes: 1024 * 1024 });
      expect(options.timeoutMs).toBeLessThanOrEqual(5000);
      const answer = answers[at];
      if (!answer) throw new Error(`ENOTFOUND ${at}`);
      if (answer instanceof Error) throw answer;
      const { status = 200, headers = {}, body = '' } = answer;
      return { status, headers, body: typeof body === 'string' ? Buffer.from(body) : body };
    },
  };
  return { ...(await fetchContext(outbound, 't1', url)), requested };
};
const messageOf = async (answers: Record<string, Answer | Error>, url = NAMED) => {
  const error: unknown = await fetchFrom(answers, url).catch((refused: unknown) => refused);
  expect(error).toBeInstanceOf(ContextRefused);
  return (error as ContextRefused).message;
};

describe('a JSON-LD context', () => {
  it.each([301, 302, 303, 307, 308])(
    'is fetched over three redirects with status %i, one relative [T567]',
    async (status) => {
      const { text, requested } = await fetchFrom({
        [NAMED]: redirect('https://two.example.org/a', status),
        'https://two.example.org/a': redirect('../b', status),
        'https://two.example.org/b': redirect('//three.example.org/c', status),
        'https://three.example.org/c': json(),
      });
      expect(text).toBe(TEXT);
      expect(requested).toHaveLength(4);
    },
  );

  it('is the alternate that a page names, also after a redirect, and before one [T567]', async () => {
    const { text, typeFault, requested } = await fetchFrom({
      [NAMED]: redirect('https://schema.example.org/'),
      'https://schema.example.org/': page(ALTERNATE),
      'https://schema.example.org/alternate.jsonld': redirect('/current'),
      'https://schema.example.org/current': json(),
    });
    expect({ text, typeFault }).toEqual({ text: TEXT, typeFault: undefined });
    expect(requested).toHaveLength(4);
  });

  it.each(['application/json', 'application/ld+json; charset=utf-8', 'application/vnd.acme+json'])(
    'ignores an alternate where the answer is %s',
    async (type) => {
      const answer = { headers: { 'content-type': type, link: ALTERNATE }, body: TEXT };
      expect((await fetchFrom({ [NAMED]: answer })).requested).toEqual([NAMED]);
    },
  );

  it('may have another type, which is named where it is no JSON', async () => {
    const plain = (type?: string) => ({ ...(type !== undefined && { headers: { 'content-type': type } }), body: TEXT });
    expect(await fetchFrom({ [NAMED]: plain('text/plain') })).toMatchObject({
      text: TEXT,
      typeFault: 'must be JSON, not text/plain',
    });
    for (const type of [undefined, '<script>', `a/${'b'.repeat(100)}`])
      expect((await fetchFrom({ [NAMED]: plain(type) })).typeFault).toBe(
        'must be JSON, not a document without a media type',
      );
  });

  const HOPS = ['a', 'b', 'c', 'd'].map((name) => `https://acme.example.org/${name}`);
  it.each<[string, string, Record<string, Answer | Error>]>([
    [
      'a fourth redirect',
      'must not redirect more than 3 times',
      Object.fromEntries([NAMED, ...HOPS].map((url, n) => [url, redirect(HOPS[n] ?? NAMED)])),
    ],
    ['a redirect to itself', 'must not redirect more than 3 times', { [NAMED]: redirect(NAMED) }],
    ['a redirect without Location', 'must not redirect without Location: status 302', { [NAMED]: redirect() }],
    ['another status', 'must be answered with status 200, not 404', { [NAMED]: { status: 404 } }],
    ['304', 'must be answered with status 200, not 304', { [NAMED]: redirect(HOPS[0], 304) }],
    [
      'a status after redirects',
      'must be answered with status 200, not 503 after 2 redirects',
      { [NAMED]: redirect(HOPS[0]), [HOPS[0]!]: redirect(HOPS[1]), [HOPS[1]!]: { status: 503 } },
    ],
    ['its size', 'must be at most 1 MiB', { [NAMED]: new AnswerTooLarge('large') }],
    [
      'its time',
      'must arrive within 5 seconds',
      { [NAMED]: Object.assign(new Error('late'), { name: 'TimeoutError' }) },
    ],
    [
      'two alternates in succession',
      'must not name an alternate that names another alternate',
      { [NAMED]: page(ALTERNATE), 'https://acme.example.org/alternate.jsonld': page(ALTERNATE) },
    ],
    ['its encoding', 'must be JSON in UTF-8', { [NAMED]: { ...json(), body: Uint8Array.of(0xff) } }],
  ])('is refused with the reason: %s [T567]', async (_, message, answers) => {
    expect(await messageOf(answers)).toBe(message);
  });

  const refusals: [string, Error][] = [
    ['that the guard refuses', new TargetRefused('10.0.0.1 has no public address')],
    ['without a name', Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' })],
    ['without a listener', Object.assign(new Error('ECONNREFUSED'), { code: 'ECONNREFUSED' })],
    ['that takes no connection', Object.assign(new Error('x'), { code: 'UND_ERR_CONNECT_TIMEOUT' })],
    ['with another certificate', Object.assign(new Error('x'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })],
  ];
  it.each(refusals)('has one text for an address %s, first and later [T567]', async (_, error) => {
    expect(await messageOf({ [NAMED]: error })).toBe(UNREACHABLE);
    expect(await messageOf({ [NAMED]: redirect(HOPS[0]), [HOPS[0]!]: error })).toBe(UNREACHABLE);
    const link = `<${HOPS[0]}>; rel=alternate; type="application/ld+json"`;
    expect(await messageOf({ [NAMED]: page(link), [HOPS[0]!]: error })).toBe(UNREACHABLE);
  });

  it.each([
    'http://acme.example.org/a',
    'https://10.0.0.1/a',
    'https://[::1]/a',
    'https://localhost/a',
    'https://metadata.internal/a',
    'https://user:secret@acme.example.org/a',
    'https://acme.example.org/a?x=1',
    'file:///etc/passwd',
    'data:application/json,{}',
    'https://',
  ])('follows no redirect and no alternate to %s [T567]', async (location) => {
    expect(await messageOf({ [NAMED]: redirect(location) })).toBe(UNREACHABLE);
    const link = `<${location}>; rel=alternate; type="application/ld+json"`;
    expect(await messageOf({ [NAMED]: page(link) })).toBe(UNREACHABLE);
  });

  it('names what is wrong with the text of its own address', async () => {
    expect(await messageOf({}, 'http://acme.example.org/')).toBe('must use https');
    expect(await messageOf({}, 'https://10.0.0.1/')).toBe('must not be an IP address');
  });

  it('passes on that DNS took too long', async () => {
    const error = new DnsBudgetExceeded('too long', 5);
    await expect(fetchFrom({ [NAMED]: error })).rejects.toBe(error);
  });
});
