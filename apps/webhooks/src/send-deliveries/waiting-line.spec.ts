import { LIMITS, WaitingLine, type DueDelivery } from './waiting-line.js';

const LEAST = LIMITS.host.least;
let made = 0;
const due = (host: string, tenantId = `tenant of ${host}`): DueDelivery => ({
  tenantId,
  host,
  deliveryKey: `delivery ${(made += 1)}`,
  webhookId: 'w',
  requestId: 'r',
  cancel: null,
});
const many = (count: number, ...of: Parameters<typeof due>) => Array.from({ length: count }, () => due(...of));
const lineOf = (...deliveries: DueDelivery[]) => {
  const line = new WaitingLine<DueDelivery>();
  return { line, taken: deliveries.map((delivery) => line.add(delivery)) };
};
const takeAll = (line: WaitingLine<DueDelivery>) => {
  const all: DueDelivery[] = [];
  for (let next = line.take(); next; next = line.take()) all.push(next);
  return all;
};
/** So many attempts that go well, one after the other. */
const trust = (line: WaitingLine<DueDelivery>, count: number, ...of: Parameters<typeof due>) => {
  for (let i = 0; i < count; i++) {
    line.add(due(...of));
    line.end(line.take()!, true);
  }
};

describe('a delivery queue', () => {
  it('gives what came first, as many as the host may have', () => {
    const deliveries = many(LEAST + 2, 'a');
    const { line } = lineOf(...deliveries);
    expect(takeAll(line)).toEqual(deliveries.slice(0, LEAST));
    expect(line.take()).toBeUndefined();
    line.end(deliveries[1]!, false);
    expect(takeAll(line)).toEqual([deliveries[LEAST]]);
  });

  it('gives more to who is quick, up to the most of a host', () => {
    const { line } = lineOf();
    trust(line, LIMITS.host.most, 'a');
    many(LIMITS.host.most + 1, 'a').forEach((each) => line.add(each));
    expect(takeAll(line)).toHaveLength(LIMITS.host.most);
  });

  it('keeps what is for one tenant to its part, over all hosts', () => {
    const { line } = lineOf(...Array.from({ length: 4 }, (_, at) => many(LEAST, `host ${at}`, 'one')).flat());
    expect(takeAll(line)).toHaveLength(LIMITS.tenant.least);
  });

  it('prefers hosts without attempts in flight, and lets all take turns', () => {
    const { line } = lineOf(...many(3, 'a'), ...many(3, 'b'), ...many(1, 'c'));
    expect(takeAll(line).map(({ host }) => host)).toEqual(['a', 'b', 'c', 'a', 'b', 'a', 'b']);
  });

  it('has so many places in all', () => {
    const { line } = lineOf(...Array.from({ length: LIMITS.all + 1 }, (_, at) => due(`host ${at}`)));
    const under = takeAll(line);
    expect(under).toHaveLength(LIMITS.all);
    line.end(under[0]!);
    expect(takeAll(line)).toHaveLength(1);
  });

  it('has a delivery once, whether it waits or is in flight', () => {
    const [first, second] = [due('a'), due('a')];
    const { line, taken } = lineOf(first, first, second);
    expect(taken).toEqual([true, true, true]);
    expect(line.take()).toBe(first);
    expect(line.add(first)).toBe(true);
    expect(takeAll(line)).toEqual([second]);
    line.end(first, true);
    line.add(first);
    expect(takeAll(line)).toEqual([first]);
  });

  it('has no room for more than a host may soon have, and reports when there is', () => {
    const { line, taken } = lineOf(...many(8 * LEAST + 1, 'a'));
    expect(taken.indexOf(false)).toBe(8 * LEAST);
    // Others are not concerned.
    expect(line.add(due('b'))).toBe(true);
    const room: number[] = [];
    for (let left = 8 * LEAST; left; left--) {
      const next = line.take()!;
      // As it went neither well nor badly, the host may have no more than before.
      line.end(next);
      if (next.host === 'b') left += 1;
      else if (line.wantsMore(next)) room.push(left - 1);
    }
    expect(room[0]).toBe(2 * LEAST);
    expect(line.wantsMore(due('b'))).toBe(false);
  });

  it('admits the first of every host and tenant, however many wait', () => {
    const { line } = lineOf();
    let hosts = 0;
    while (many(8 * LEAST, `host ${(hosts += 1)}`).every((each) => line.add(each)));
    expect(hosts * 8 * LEAST).toBeGreaterThan(4096);
    expect(line.add(due('new'))).toBe(true);
    expect(line.add(due('new'))).toBe(false);
  });

  it('tells who is here and who is full', () => {
    const { line } = lineOf(...many(8 * LEAST, 'a'), due('b'), due('', 'gone'));
    expect(line.present()).toEqual({
      hosts: new Set(['a', 'b']),
      tenants: new Set(['tenant of a', 'tenant of b', 'gone']),
    });
    expect(line.full()).toMatchObject({ lanes: [{ tenantId: 'tenant of a', host: 'a' }], others: 2 });
    takeAll(line);
    expect(line.full()).toMatchObject({ lanes: [], others: 8 * LEAST + 2 });
    expect(line.present().hosts).toEqual(new Set(['a', 'b']));
  });

  it('drops waiting deliveries, not those in flight', () => {
    const [first, second] = [due('a'), due('a')];
    const { line } = lineOf(first, second);
    line.take();
    line.clear();
    expect(line.take()).toBeUndefined();
    line.add(first);
    line.add(second);
    expect(takeAll(line)).toEqual([second]);
  });
});
