import { idFor, seededBytes } from './deterministic-values.js';

const seed = Buffer.alloc(32, 7);
const ids = { uuid: () => 'from the generator' };
const context = (bytes = seededBytes(seed)) =>
  ({ idempotentCall: { id: 'a', beganAt: '2026-03-01T10:00:00.000Z', resumed: false, bytes } }) as never;

describe('deterministic values', () => {
  it('are the same stream for the same seed and name, however it is split', () => {
    const whole = seededBytes(seed)('x')(100);
    const parts = seededBytes(seed)('x');
    expect(Buffer.concat([parts(1), parts(50), parts(49)])).toEqual(whole);
  });

  it('differ for another seed or name', () => {
    const streams = [seededBytes(seed)('x')(32), seededBytes(seed)('y')(32), seededBytes(Buffer.alloc(32, 8))('x')(32)];
    expect(new Set(streams.map((bytes) => bytes.toString('hex'))).size).toBe(3);
  });

  it('contain ids that are version 7 UUIDs with the time of the first call, one per name', () => {
    const id = idFor(context(), 'user', ids);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(Date.parse('2026-03-01T10:00:00.000Z'));
    expect(idFor(context(), 'user', ids)).toBe(id);
    expect(idFor(context(), 'other', ids)).not.toBe(id);
    expect(idFor({} as never, 'user', ids)).toBe('from the generator');
  });
});
