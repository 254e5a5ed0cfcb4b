import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import { from, of } from 'rxjs';
import { BusContext, BusTransport } from './bus-transport.js';
import { InProcessBus } from './in-process/in-process-bus.js';
import { INTERNAL_ERROR, type Reply } from './message-bus.js';

@Controller()
class EchoController {
  @MessagePattern('op.test.controller')
  echo(@Payload() data: unknown, @Ctx() context: BusContext): Reply {
    return { ok: true, data: [data, context.getHeaders()['tenant'], context.getSubject()] };
  }
}

describe('bus transport', () => {
  let folder: string;
  let bus: InProcessBus;
  let errors: unknown[];
  const ask = (subject: string, data: unknown = {}) =>
    bus.request(subject, data, { headers: { tenant: 't' }, timeoutMs: 5000 });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'attestry-transport-'));
    errors = [];
    bus = await InProcessBus.open({ file: join(folder, 'feed.db'), onError: (_, error) => errors.push(error) });
  });
  afterEach(async () => {
    await bus.close();
    rmSync(folder, { recursive: true });
  });

  it('serves the handlers of a Nest microservice, controllers and added ones', async () => {
    const transport = new BusTransport(bus);
    transport.addHandler('op.test.added', async (data) => ({ ok: true, data }));
    const module = await Test.createTestingModule({ controllers: [EchoController] }).compile();
    const app = module.createNestMicroservice({ strategy: transport, logger: false });
    await app.listen();
    expect(await ask('op.test.controller', { a: 1 })).toEqual({
      ok: true,
      data: [{ a: 1 }, 't', 'op.test.controller'],
    });
    expect(await ask('op.test.added', 2)).toEqual({ ok: true, data: 2 });
    expect(transport.unwrap()).toBe(bus);
    await app.close();
    await expect(ask('op.test.added')).rejects.toMatchObject({ reason: 'no-responder' });
  });

  it('accepts values, promises and observables, and only Replies', async () => {
    const transport = new BusTransport(bus);
    transport.addHandler('op.test.value', (() => ({ ok: true, data: 1 })) as never);
    transport.addHandler('op.test.observable', async () =>
      from([
        { ok: true, data: 1 },
        { ok: true, data: 2 },
      ]),
    );
    transport.addHandler('op.test.wrong', async () => of('text'));
    transport.listen(() => undefined);
    expect(await ask('op.test.value')).toEqual({ ok: true, data: 1 });
    expect(await ask('op.test.observable')).toEqual({ ok: true, data: 2 });
    expect(await ask('op.test.wrong')).toEqual({ ok: false, error: INTERNAL_ERROR });
    expect(errors).toHaveLength(1);
  });

  it('drains on close: accepts no new requests, waits for those in flight, leaves the bus open', async () => {
    const transport = new BusTransport(bus);
    let finish!: () => void;
    const finishing = new Promise<void>((resolve) => (finish = resolve));
    let running = 0;
    transport.addHandler('op.test.slow', async () => {
      running++;
      await finishing;
      running--;
      return { ok: true, data: 'done' };
    });
    transport.listen(() => undefined);
    const reply = ask('op.test.slow');
    while (running === 0) await new Promise(setImmediate);
    let closed = false;
    const closing = transport.close().then(() => (closed = true));
    await expect(ask('op.test.slow')).rejects.toMatchObject({ reason: 'no-responder' });
    expect([closed, running]).toEqual([false, 1]);
    finish();
    expect(await reply).toEqual({ ok: true, data: 'done' });
    await closing;
    expect(running).toBe(0);
    expect(await bus.head()).toBeUndefined();
  });

  it('refuses two handlers of one subject, event handlers and patterns that are not subjects', () => {
    const transport = new BusTransport(bus);
    const handler = async () => ({ ok: true, data: null });
    transport.addHandler('op.test.once', handler);
    expect(() => transport.addHandler('op.test.once', handler)).toThrow('op.test.once has two handlers');
    expect(() => transport.addHandler('event.test', handler, true)).toThrow('MessageBus.consume');
    expect(() => transport.addHandler({ cmd: 'x' }, handler)).toThrow('a pattern must be a subject');
  });
});
