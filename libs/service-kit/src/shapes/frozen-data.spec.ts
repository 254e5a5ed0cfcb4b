import { freezeDeep, frozenData } from './frozen-data.js';

/** Data that counts how often its members are visited. */
const watched = (members: object) => {
  let visits = 0;
  const data = new Proxy(members, {
    ownKeys: (target) => {
      visits++;
      return Reflect.ownKeys(target);
    },
  });
  return { data, visits: () => visits };
};

describe('frozen data', () => {
  it('is the same object for plain data, deeply frozen', () => {
    const data = { a: [{ b: 1 }], c: 'text', d: null, e: true };
    expect(frozenData(data)).toBe(data);
    expect([data, data.a, data.a[0]].every((it) => Object.isFrozen(it))).toBe(true);
  });

  it('is visited once', () => {
    const { data, visits } = watched({ a: 1 });
    const held = { data };
    frozenData(held);
    const first = visits();
    frozenData(held);
    frozenData({ held });
    expect(visits() - first).toBeLessThanOrEqual(1);
    expect(Object.isFrozen(held)).toBe(true);
  });

  it('is a copy when JSON changes a value; the original is not changed', () => {
    const data = { list: [1], at: new Date(0), gone: undefined };
    const copy = frozenData(data);
    expect(copy).toStrictEqual({ list: [1], at: '1970-01-01T00:00:00.000Z' });
    expect(Object.isFrozen(copy)).toBe(true);
    expect([Object.isFrozen(data), Object.isFrozen(data.at)]).toEqual([false, false]);
  });

  it.each([[undefined], [() => 1], [Symbol('a')]])('is undefined when JSON has no value: %p', (value) => {
    expect(frozenData<unknown>(value)).toBeUndefined();
  });

  it('is refused for values that JSON cannot express', () => {
    expect(() => frozenData({ n: 1n })).toThrow(TypeError);
  });
});

describe('a deeply frozen object', () => {
  it('keeps its class', () => {
    class Body {
      readonly roles = ['issuer'];
    }
    const body = freezeDeep(new Body());
    expect(body).toBeInstanceOf(Body);
    expect([Object.isFrozen(body), Object.isFrozen(body.roles)]).toEqual([true, true]);
  });
});
