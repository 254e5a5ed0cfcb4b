import { execFile } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PublicJwk, Signer } from '@attestry/keys';
import { skipSuite } from '@attestry/testing';
import { webhookRequest } from './send-deliveries/webhook-request.js';

const guide = readFileSync(join(import.meta.dirname, '../../../docs/guides/webhooks.md'), 'utf8');
const sampleIn = (language: string): string =>
  [...guide.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].find(([, name]) => name === language)![2]!;
const run = promisify(execFile);

const pair = generateKeyPairSync('ed25519');
const publicJwk = pair.publicKey.export({ format: 'jwk' }) as unknown as PublicJwk;
const signer: Signer = {
  keyId: 'key-1',
  algorithm: 'Ed25519',
  publicJwk,
  publicKey: pair.publicKey,
  sign: (data) => sign(null, data, pair.privateKey),
  signAside: (data) => Promise.resolve(sign(null, data, pair.privateKey)),
};
const now = new Date('2026-01-02T03:04:05.678Z');
const seconds = Math.floor(now.getTime() / 1000);
const url = 'https://hooks.example.org/in/1';

interface Case {
  what: string;
  headers: Record<string, string>;
  body: string;
  targetUri: string;
  keys: { kid: string; x: string; kty: string; crv: string }[];
  now: number;
  genuine: boolean;
}

/** A delivery as it is sent, and everything that a verifier has to refuse. */
const cases = async (): Promise<Case[]> => {
  const { headers: sent, body } = await webhookRequest(
    url,
    {
      deliveryId: 'd1',
      deliveryTimestamp: now.toISOString(),
      webhookId: 'w1',
      event: { id: 'e1', type: 'DidCreated', timestamp: now.toISOString(), payload: { did: 'did:web:zoë.example' } },
    },
    { attempt: 1, now, signer },
  );
  const headers = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name.toLowerCase(), value]));
  const keys = [{ kty: 'OKP', crv: 'Ed25519', kid: 'key-1', x: publicJwk.x }];
  const right = { headers, body, targetUri: url, keys, now: seconds, genuine: true };
  const input = headers['signature-input']!;
  const wrong = (what: string, change: Partial<Case>): Case => ({ what, ...right, ...change, genuine: false });
  const outsider = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }) as unknown as PublicJwk;
  return [
    { what: 'as sent', ...right },
    { what: 'five minutes later', ...right, now: seconds + 300 },
    wrong('a changed body', { body: `${body} ` }),
    wrong('another target', { targetUri: `${url}/elsewhere` }),
    wrong('later than that', { now: seconds + 301 }),
    wrong('from the future', { now: seconds - 301 }),
    wrong('an unknown key', { keys: [] }),
    wrong('a key of the same name', { keys: [{ ...keys[0]!, x: outsider.x }] }),
    wrong('no signature', { headers: { ...headers, signature: '' } }),
    wrong('another algorithm', { headers: { ...headers, 'signature-input': input.replace('ed25519', 'hmac-sha256') } }),
    wrong('the body not covered', {
      headers: { ...headers, 'signature-input': input.replace(' "content-digest"', '') },
    }),
    wrong('a newer time', {
      headers: { ...headers, 'signature-input': input.replace(/created=\d+/, 'created=9') },
      now: 9,
    }),
  ];
};
const expected = (all: readonly Case[]) => all.map(({ what, genuine }) => [what, genuine]);

const works = (command: string, ...args: string[]): Promise<boolean> =>
  run(command, args).then(
    () => true,
    () => false,
  );

describe('the samples of docs/guides/webhooks.md', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-samples-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('verify in JavaScript', async () => {
    const file = join(folder, 'sample.mjs');
    await writeFile(
      file,
      `${sampleIn('js')}
      import { readFileSync } from 'node:fs';
      const cases = JSON.parse(readFileSync(process.argv[2], 'utf8'));
      console.log(JSON.stringify(cases.map(({ headers, body, targetUri, keys, now }) =>
        isGenuine({ headers, body: Buffer.from(body) }, targetUri, keys, now * 1000))));`,
    );
    const all = await cases();
    await writeFile(join(folder, 'cases.json'), JSON.stringify(all));
    const { stdout } = await run(process.execPath, ['--no-warnings', file, join(folder, 'cases.json')]);
    expect(all.map(({ what }, at) => [what, (JSON.parse(stdout) as boolean[])[at]])).toEqual(expected(all));
  }, 60_000);

  it('verify in Python', async () => {
    const file = join(folder, 'sample.py');
    await writeFile(
      file,
      `${sampleIn('python')}
if __name__ == "__main__":
    import json
    import sys

    with open(sys.argv[1], encoding="utf-8") as file:
        cases = json.load(file)
    print(json.dumps([is_genuine(c["headers"], c["body"].encode(), c["targetUri"], c["keys"], c["now"]) for c in cases]))
`,
    );
    if (!(await works('python3', '-c', 'import cryptography'))) {
      skipSuite(
        'webhook sample in Python',
        'no python3 with the package cryptography; its syntax is checked where there is python3',
      );
      if (await works('python3', '--version')) await run('python3', ['-m', 'py_compile', file]);
      return;
    }
    const all = await cases();
    await writeFile(join(folder, 'cases.json'), JSON.stringify(all));
    const { stdout } = await run('python3', [file, join(folder, 'cases.json')]);
    expect(all.map(({ what }, at) => [what, (JSON.parse(stdout) as boolean[])[at]])).toEqual(expected(all));
  }, 60_000);

  it('verify in Java', async () => {
    if (!(await works('javac', '--version'))) {
      skipSuite('webhook sample in Java', 'no JDK');
      return;
    }
    const all = await cases();
    const text = (value: string) =>
      JSON.stringify(value).replaceAll(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
    const map = (entries: [string, string][]) =>
      `Map.ofEntries(${entries.map(([name, value]) => `Map.entry(${text(name)}, ${text(value)})`).join(', ')})`;
    const calls = all.map(
      ({ headers, body, targetUri, keys, now: at }) =>
        `System.out.println(WebhookSignature.isGenuine(${map(Object.entries(headers))}, ${text(body)}.getBytes(StandardCharsets.UTF_8), ` +
        `${text(targetUri)}, ${map(keys.map(({ kid, x }) => [kid, x]))}, ${at}L));`,
    );
    const [imports, type] = sampleIn('java').split('\nfinal class');
    // The first class of a file is the one that `java` runs.
    const main = `class Main { public static void main(String[] a) throws Exception {\n${calls.join('\n')}\n} }`;
    await writeFile(join(folder, 'Main.java'), `${imports}\n${main}\nfinal class${type}`);
    const { stdout } = await run('java', ['-Xshare:auto', '-XX:TieredStopAtLevel=1', join(folder, 'Main.java')]);
    const answers = stdout.trim().split('\n');
    expect(all.map(({ what }, at) => [what, answers[at] === 'true'])).toEqual(expected(all));
    expect(new Set(answers)).toEqual(new Set(['true', 'false']));
  }, 120_000);
});
