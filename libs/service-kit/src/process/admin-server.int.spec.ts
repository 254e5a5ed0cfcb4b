import { connect } from 'node:net';
import { AdminServer } from './admin-server.js';
import { Health } from './health.js';
import { Metrics } from '../metrics/metrics.js';

describe('the admin server', () => {
  let health: Health;
  let admin: AdminServer;
  beforeEach(async () => {
    health = new Health();
    admin = await AdminServer.start({
      port: 0,
      host: '127.0.0.1',
      health,
      metrics: new Metrics('dids'),
      requestTimeoutMs: 500,
      maxConnections: 2,
    });
  });
  afterEach(() => admin.close());
  const get = (path: string, method = 'GET') => fetch(`http://127.0.0.1:${admin.port}${path}`, { method });

  it('is ready when every check is, and names the one that is not', async () => {
    let healthy = true;
    health.register('a', () => [{ name: 'a', healthy, ...(!healthy && { error: 'broken' }) }]);
    expect((await get('/health/ready')).status).toBe(200);
    healthy = false;
    const response = await get('/health/ready');
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      status: 'not ready',
      checks: [{ name: 'a', healthy: false, error: 'broken' }],
    });
    expect(await (await get('/metrics')).text()).toContain('attestry_check_healthy{check="a"} 0');
  });

  it('continues to run, unready, while the process shuts down', async () => {
    health.close();
    expect((await get('/health/ready')).status).toBe(503);
    expect((await get('/health/live')).status).toBe(200);
    expect(await (await get('/metrics')).text()).toContain('attestry_ready 0');
  });

  it('ends slow requests, and accepts no more connections than its limit', async () => {
    const open = () => {
      const socket = connect(admin.port, '127.0.0.1', () => socket.write('GET /metrics HTTP/1.1\r\nHo'));
      let text = '';
      socket.on('data', (chunk) => (text += String(chunk)));
      socket.on('error', () => undefined);
      return new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
    };
    const [first, second, third] = await Promise.all([open(), open(), open()]);
    expect([first, second].map((text) => text!.split('\r\n', 1)[0])).toEqual([
      'HTTP/1.1 408 Request Timeout',
      'HTTP/1.1 408 Request Timeout',
    ]);
    expect(third).toBe('');
  });

  it("serves the process metrics and the platform's, in the text format", async () => {
    const response = await get('/metrics');
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await response.text();
    expect(text).toContain('attestry_info{runs="dids"} 1');
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds [\d.e-]+$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
  });

  it.each([
    ['GET', '/', 404],
    ['GET', '/metrics/x', 404],
    ['POST', '/metrics', 405],
    ['HEAD', '/metrics', 200],
  ])('answers %s %s with %i', async (method, path, status) => {
    const response = await get(path, method);
    expect(response.status).toBe(status);
    if (method === 'HEAD') expect(await response.text()).toBe('');
  });
});
