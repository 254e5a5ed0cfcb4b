import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import type { PublicJwk, Signer } from '@attestry/keys';
import { attemptError } from './attempt-error.js';
import { webhookRequest, type WebhookEnvelope } from './webhook-request.js';

const pair = generateKeyPairSync('ed25519');
const signer: Signer = {
  keyId: 'key-1',
  algorithm: 'Ed25519',
  publicJwk: pair.publicKey.export({ format: 'jwk' }) as unknown as PublicJwk,
  publicKey: pair.publicKey,
  sign: (data) => sign(null, data, pair.privateKey),
  signAside: (data) => Promise.resolve(sign(null, data, pair.privateKey)),
};
const now = new Date('2026-01-02T03:04:05.678Z');
const url = 'https://hooks.example.org/in/1';
const envelope: WebhookEnvelope = {
  deliveryId: 'd1',
  deliveryTimestamp: now.toISOString(),
  webhookId: 'w1',
  event: { id: 'e1', type: 'OpenIdCredentialIssued', timestamp: now.toISOString(), payload: { name: 'Zoë' } },
};

const check = async (headers: Record<string, string>, targetUri = url, method = 'POST') => {
  // Not at the top: Jest cannot load the ES module that both libraries use while it is being required.
  const { verifySignature } = await import('http-message-sig');
  return verifySignature(
    {
      kind: 'request',
      method,
      targetUri,
      fields: Object.entries(headers).map(([name, value]) => ({ name: name.toLowerCase(), value })),
    },
    {
      label: 'sig1',
      policy: {
        algorithms: ['ed25519'],
        requiredComponents: ['@method', '@target-uri', 'content-type', 'content-digest'],
        requiredParameters: ['created', 'expires', 'keyid', 'alg', 'tag'],
        now: Math.floor(now.getTime() / 1000),
      },
      resolveVerifier: () => ({
        algorithm: 'ed25519',
        verify: (data, signature) =>
          verify(null, data, createPublicKey({ key: signer.publicJwk as never, format: 'jwk' }), signature),
      }),
    },
  );
};

describe('webhook request', () => {
  it('is signed as defined by RFC 9421, verified by another library', async () => {
    const { headers } = await webhookRequest(url, envelope, { attempt: 2, now, signer });
    const verified = await check(headers);
    expect(verified.parameters).toEqual({
      created: 1767323045,
      expires: 1767323345,
      keyid: 'key-1',
      alg: 'ed25519',
      tag: 'webhook',
    });
    expect(headers['Signature-Input']).toBe(
      'sig1=("@method" "@target-uri" "content-type" "content-digest");created=1767323045;expires=1767323345;keyid="key-1";alg="ed25519";tag="webhook"',
    );
  });

  it('covers the target, the method and the body', async () => {
    const { headers, body } = await webhookRequest(url, envelope, { attempt: 1, now, signer });
    const digest = createHash('sha256').update(Buffer.from(body, 'utf8')).digest('base64');
    expect(headers['content-digest']).toBe(`sha-256=:${digest}:`);
    expect(JSON.parse(body)).toEqual(envelope);
    await expect(check(headers, 'https://hooks.example.org/in/2')).rejects.toThrow();
    await expect(check(headers, url, 'PUT')).rejects.toThrow();
    await expect(check({ ...headers, 'content-digest': 'sha-256=:AAAA:' })).rejects.toThrow();
  });

  it('names webhook, event and attempt in headers', async () => {
    const { headers } = await webhookRequest(url, envelope, { attempt: 3, now, signer });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-webhook-id': 'w1',
      'x-webhook-event-type': 'OpenIdCredentialIssued',
      'x-webhook-attempt': '3',
    });
  });
});

describe('attempt error', () => {
  it.each([
    [
      'a request that timed out',
      'timeout',
      new DOMException('The operation was aborted due to timeout', 'TimeoutError'),
    ],
    ['missing response headers', 'timeout', Object.assign(new Error('x'), { code: 'UND_ERR_HEADERS_TIMEOUT' })],
    ['a refused connection', 'ECONNREFUSED', Object.assign(new Error('x'), { code: 'ECONNREFUSED' })],
    ['an error without a code', 'connection-failed', new Error('https://hooks.example.org said something')],
  ])('for %s is %s', (_what, word, error) => expect(attemptError(error)).toBe(word));
});
