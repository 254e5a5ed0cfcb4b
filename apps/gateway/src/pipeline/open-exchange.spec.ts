import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PlatformConfig } from '@attestry/service-kit';
import { rateKeyOf, TrustedProxies } from '../request/client-address.js';
import { FakeReply, NOW } from './exchange.spec-fixture.js';
import { openExchange } from './open-exchange.js';

const deps = {
  clock: { now: () => new Date(NOW) },
  config: { operationTimeoutMs: 5000, publicScheme: 'http' } as PlatformConfig,
  hosts: { apiOf: (header: string) => (header === 'm.example' ? 'management' : 'tenant') } as never,
};
const open = (headers: Record<string, string>, remoteAddress = '192.0.2.1') => {
  const reply = new FakeReply();
  const request = { url: '/v1/dids?limit=1', headers, socket: { remoteAddress } } as unknown as FastifyRequest;
  const proxies = new TrustedProxies(['10.0.0.0/8']);
  return { reply, exchange: openExchange(request, reply as unknown as FastifyReply, proxies, deps) };
};

describe('a request', () => {
  it('has an id, a deadline, an address and a path', () => {
    const { exchange, reply } = open({ host: 'a.example' });
    expect(exchange).toMatchObject({
      requestId: expect.stringMatching(/^[0-9A-Za-z]{22}$/) as string,
      startedAt: NOW,
      deadline: NOW + 5000,
      address: '192.0.2.1',
      hostHeader: 'a.example',
      isForwarded: false,
      path: '/v1/dids',
      shape: { errors: 'tenant', corsHeaders: {} },
    });
    expect(reply.kept).toEqual({ 'x-content-type-options': 'nosniff' });
  });

  it('to the management host has its error shape', () => {
    expect(open({ host: 'm.example' }).exchange.shape.errors).toBe('management');
  });

  it('through a trusted proxy has the address, host and scheme that it forwards', () => {
    const headers = {
      host: 'inside',
      'x-forwarded-for': '2001:db8:1:2::9',
      'x-forwarded-host': 'm.example',
      'x-forwarded-proto': 'https',
    };
    const { exchange, reply } = open(headers, '10.1.1.1');
    expect(exchange).toMatchObject({
      address: rateKeyOf('2001:db8:1:2::9'),
      hostHeader: 'm.example',
      isForwarded: true,
    });
    expect(reply.kept).toHaveProperty('strict-transport-security');
    expect(open(headers).exchange).toMatchObject({ address: '192.0.2.1', hostHeader: 'inside', isForwarded: false });
  });
});
