/** @engines embedded */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  hostFetch,
  OtlpReceiver,
  startPlatformProcess,
  waitUntil,
  WebhookReceiver,
  type PlatformProcess,
  type ReceivedSpan,
  type TenantUnderTest,
} from '@attestry/testing';
import { issue, makeIssuer } from './journey.js';

const CLAIM = 'Claim-7f3a9c-of-a-person';

let otlp: OtlpReceiver;
let platform: PlatformProcess;
let tenant: TenantUnderTest;
let webhook: WebhookReceiver;
let credential: unknown;
/** Status of the first call after the line that announces readiness. */
let firstReadiness: number;
beforeAll(async () => {
  otlp = await OtlpReceiver.start();
  platform = await startPlatformProcess({ env: { ADMIN_PORT: '0', OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url } });
  firstReadiness = (await fetch(`http://127.0.0.1:${platform.ready.port}/health/ready`)).status;
  tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'watched');
  const { jwtVc } = await makeIssuer(tenant);
  webhook = await WebhookReceiver.start(`${tenant.url}/v1/webhooks/jwks`);
  expectStatus(await tenant.api.webhooks.create({ url: webhook.url, events: ['OpenIdCredentialIssued'] }), 201);
  const { credentials } = await issue(tenant, { credentials: [jwtVc], claims: { given_name: CLAIM, note: CLAIM } });
  [credential] = credentials;
  await webhook.next();
}, 90_000);
afterAll(async () => {
  await platform?.stop();
  await webhook?.close();
  await otlp?.close();
});

const metrics = async (): Promise<string> => {
  const response = await fetch(`http://127.0.0.1:${platform.ready.adminPort}/metrics`);
  expect(response.status).toBe(200);
  return response.text();
};
const valueOf = (text: string, series: string): number | undefined => {
  const line = text.split('\n').find((it) => it.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
};

describe('a credential that is issued', () => {
  /** All spans of the trace of the credential request, once that of the webhook has arrived. */
  const trace = async (): Promise<ReceivedSpan[]> => {
    const delivery = await waitUntil(() => otlp.spans.find(({ name }) => name === 'deliver webhook'), {
      what: 'the span of the webhook',
    });
    const ofTrace = () => otlp.spans.filter(({ traceId }) => traceId === delivery.traceId);
    await waitUntil(() => ofTrace().some(({ name }) => name === 'project issuance.users'), {
      what: 'the span of the projection',
    });
    return ofTrace();
  };
  const ancestors = (spans: readonly ReceivedSpan[], span: ReceivedSpan): string[] => {
    const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
    return parent ? [parent.name, ...ancestors(spans, parent)] : [];
  };

  it('is one trace, from HTTP through handler and append to projection, feed and webhook', async () => {
    const spans = await trace();
    const pathTo = (name: string, fits: (path: string[]) => boolean = () => true) => {
      const paths = spans.filter((span) => span.name === name).map((span) => ancestors(spans, span));
      return paths.find(fits) ?? paths;
    };
    const handler = 'issuance.issue-credential';
    const root = spans.filter(({ parentSpanId }) => parentSpanId === '');
    expect(root.map(({ name }) => name)).toEqual(['POST /v1/openid/credential']);
    expect(spans.every(({ service }) => service === 'platform')).toBe(true);
    const top = root[0]!.name;
    // Called by reference: there is no message.
    expect(pathTo(handler)).toEqual([top]);
    const appended = spans.find(({ name, parentSpanId }) => {
      const parent = spans.find(({ spanId }) => spanId === parentSpanId);
      return name.startsWith('append ') && parent?.name === handler;
    });
    expect(appended).toBeDefined();
    expect(pathTo('project issuance.users')).toEqual([handler, top]);
    expect(pathTo('react issuance.publisher')).toEqual([handler, top]);
    expect(pathTo('consume webhooks.deliveries')).toEqual([handler, top]);
    expect(pathTo('append webhookDelivery')).toEqual(['consume webhooks.deliveries', handler, top]);
    expect(pathTo('deliver webhook')).toEqual(['consume webhooks.deliveries', handler, top]);
    for (const { start, end, isError } of spans) {
      expect(end).toBeGreaterThanOrEqual(start);
      expect(isError).toBe(false);
    }
    expect(root[0]!.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'attestry.operation': 'issuance.issue-credential',
    });
  });

  it('records no claim, token, credential or target address in a trace', async () => {
    await trace();
    const sent = Buffer.concat(otlp.requests).toString('latin1');
    expect(sent).toContain('attestry.operation');
    expect(sent).not.toContain(CLAIM);
    expect(sent).not.toContain('Bearer');
    expect(sent).not.toContain(tenant.token);
    expect(sent).not.toContain(String(credential));
    expect(sent).not.toContain(`127.0.0.1:${webhook.port}`);
  });

  it('sends the webhook without additional headers', () => {
    expect(webhook.deliveries[0]!.headers).not.toHaveProperty('traceparent');
    expect(webhook.deliveries[0]!.verified).toBe(true);
  });

  it('is counted at every stage', async () => {
    const text = await metrics();
    const ok = (series: string) => expect([series, valueOf(text, series)]).toEqual([series, 1]);
    ok('attestry_http_requests_total{operation="issuance.issue-credential",status="200"}');
    ok('attestry_http_request_duration_seconds_count{operation="issuance.issue-credential"}');
    ok('attestry_operations_total{operation="issuance.issue-credential",outcome="ok"}');
    ok('attestry_webhook_attempts_total{outcome="delivered"}');
    ok('attestry_lease_held{lease="webhooks.sender"}');
    ok('attestry_ready');
    // The default client, the DID and the credential.
    expect(valueOf(text, 'attestry_consumed_messages_total{consumer="webhooks.deliveries"}')).toBe(3);
    expect(valueOf(text, 'attestry_appends_total{store="domain",outcome="ok"}')).toBeGreaterThan(5);
    expect(valueOf(text, 'attestry_appends_total{store="operations",outcome="ok"}')).toBeGreaterThan(0);
    expect(valueOf(text, 'attestry_projected_events_total{projection="issuance.users"}')).toBeGreaterThan(0);
    expect(valueOf(text, 'attestry_outbox_delay_seconds_count')).toBeGreaterThan(0);
  });
});

describe('metrics', () => {
  it('are not on the public port, whatever the host', async () => {
    for (const host of [platform.ready.management, platform.ready.auth, tenant.url, 'http://127.0.0.1'])
      expect(
        (await hostFetch(`${new URL(host).protocol}//${new URL(host).hostname}:${platform.ready.port}/metrics`)).status,
      ).toBe(404);
  });

  it('have no label with a tenant, or with a host or path chosen by a caller', async () => {
    expect((await hostFetch(`${tenant.url}/v1/made-up-path`)).status).toBe(404);
    const text = await metrics();
    for (const secret of [tenant.id, tenant.host, 'watched', 'made-up-path', CLAIM]) expect(text).not.toContain(secret);
    expect(valueOf(text, 'attestry_http_requests_total{operation="none",status="404"}')).toBeGreaterThan(0);
  });

  it('say ready from the line that announces it on', () => expect(firstReadiness).toBe(200));

  it('are served on the same port as health', async () => {
    const response = await fetch(`http://127.0.0.1:${platform.ready.adminPort}/health/ready`);
    const { status, checks } = (await response.json()) as { status: string; checks: { healthy: boolean }[] };
    expect(status).toBe('ready');
    expect(checks.length).toBeGreaterThan(0);
    expect(checks.filter(({ healthy }) => !healthy)).toEqual([]);
  });
});

describe('a traceparent from a caller', () => {
  it('is ignored when it comes from an untrusted client', async () => {
    const traceId = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
    const answer = await new ApiClient(tenant.url, tenant.token).request('GET', '/v1/dids', {
      headers: { traceparent },
    });
    expect(answer.status).toBe(200);
    const requestId = answer.headers.get('x-request-id');
    const span = await waitUntil(
      () => otlp.spans.find(({ attributes }) => attributes['attestry.request_id'] === requestId),
      { what: 'the span of the request' },
    );
    expect(span.traceId).not.toBe(traceId);
  });
});

describe('an OTLP receiver that does not answer', () => {
  it('delays no request, is logged, and does not delay the end of the process', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const other = await startPlatformProcess({
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, TRUSTED_PROXIES: '127.0.0.1' },
    });
    try {
      const watched = await createTenantUnderTest(other, await connectManagement(other), 'unwatched');
      const traceId = 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb';
      const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
      const path = '/v1/users/7a1c3a52-6f0e-4a49-9d0b-3f1f5d0c9a01';
      const answer = await new ApiClient(watched.url, watched.token).request('GET', path, { headers });
      expect(answer.status).toBe(404);
      // This caller is a trusted proxy: the trace it names is joined, and every log line of the request has it.
      const requestId = answer.headers.get('x-request-id');
      const lines = other
        .log()
        .split('\n')
        .filter((line) => line.includes(`"requestId":"${requestId}"`))
        .map((line) => JSON.parse(line) as object);
      expect(lines.length).toBeGreaterThan(0);
      for (const line of lines)
        expect(line).toMatchObject({
          service: 'platform',
          tenantId: watched.id,
          operation: 'issuance.retrieve-user',
          traceId,
        });
      expect(await other.end()).toBe(0);
      expect(other.log()).toContain('traces not sent');
    } finally {
      await other.stop();
      silent.closeAllConnections();
      silent.close();
    }
  });
});
