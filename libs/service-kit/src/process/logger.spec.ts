import type { OperationContext } from '@attestry/contracts';
import { createLogger, createNestLogger, requestFields } from './logger.js';

const context: OperationContext = {
  tenant: { id: 't1', host: 'acme.localhost', baseUrl: 'http://acme.localhost' },
  caller: { kind: 'public' },
  requestId: 'r1',
  operation: 'dids.create-did',
  deadline: 0,
};

describe('a log line', () => {
  let lines: Record<string, unknown>[];
  const logger = () =>
    createLogger('info', {
      service: 'dids',
      destination: { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
    });
  beforeEach(() => (lines = []));

  it('about a request names it, its tenant and its operation, and nothing of its caller', () => {
    logger().info(requestFields(context), 'x');
    expect(lines[0]).toMatchObject({ service: 'dids', requestId: 'r1', tenantId: 't1', operation: 'dids.create-did' });
    expect(Object.keys(requestFields(context))).toEqual(['requestId', 'operation', 'tenantId']);
  });

  it('names the trace when there is one', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    logger().info(requestFields({ ...context, traceparent }), 'x');
    expect(lines[0]).toMatchObject({ traceId: '0af7651916cd43dd8448eb211c80319c' });
  });

  it('names neither tenant nor request when there is none', () => {
    const log = logger();
    const { tenant: _tenant, ...management } = context;
    createNestLogger(log).warn('from Nest');
    log.info(requestFields(management), 'management');
    expect(lines[0]).toEqual({ level: 'warn', time: expect.any(String), service: 'dids', msg: 'from Nest' });
    expect(lines[1]).not.toHaveProperty('tenantId');
    expect(lines[1]).toHaveProperty('requestId', 'r1');
  });

  it.each(['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const)(
    'has its level by name: %s [T657]',
    (level) => {
      const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
      createLogger('trace', { destination })[level]('x');
      createLogger('trace', { destination }).child({ a: 1 })[level]('y');
      expect(lines.map((line) => line['level'])).toEqual([level, level]);
    },
  );

  it('redacts a secret that is passed to it', () => {
    const secrets = {
      authorization: 'Bearer secret-1',
      client_secret: 'secret-2',
      clientSecret: 'secret-3',
      access_token: 'secret-4',
      tx_code: 'secret-5',
      secret: 'secret-6',
      body: { given_name: 'secret-7' },
    };
    logger().info({ ...requestFields(context), request: secrets }, 'x');
    expect(JSON.stringify(lines)).not.toContain('secret-');
    expect(lines[0]).toHaveProperty('request.authorization', '***');
    expect(lines[0]).toHaveProperty('requestId', 'r1');
  });
});
