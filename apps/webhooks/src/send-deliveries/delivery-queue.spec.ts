import { LIMITS, DeliveryQueue, type DueDelivery } from './delivery-queue.js';

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
const queueOf = (...deliveries: DueDelivery[]) => {
  const queue = new DeliveryQueue<DueDelivery>();
  return { queue, taken: deliveries.map((delivery) => queue.add(delivery)) };
};
const takeAll = (queue: DeliveryQueue<DueDelivery>) => {
  const all: DueDelivery[] = [];
  for (let next = queue.takeNext(); next; next = queue.takeNext()) all.push(next);
  return all;
};
/** This number of successful attempts, one after the other. */
const trust = (queue: DeliveryQueue<DueDelivery>, count: number, ...of: Parameters<typeof due>) => {
  for (let i = 0; i < count; i++) {
    queue.add(due(...of));
    queue.freeSlot(queue.takeNext()!, true);
  }
};

describe('the queue of due deliveries', () => {
  it('returns the oldest deliveries first, up to the limit of the host', () => {
    const deliveries = many(LEAST + 2, 'a');
    const { queue } = queueOf(...deliveries);
    expect(takeAll(queue)).toEqual(deliveries.slice(0, LEAST));
    expect(queue.takeNext()).toBeUndefined();
    queue.freeSlot(deliveries[1]!, false);
    expect(takeAll(queue)).toEqual([deliveries[LEAST]]);
  });

  it('gives more slots to a quick host, up to the maximum of a host', () => {
    const { queue } = queueOf();
    trust(queue, LIMITS.host.most, 'a');
    many(LIMITS.host.most + 1, 'a').forEach((each) => queue.add(each));
    expect(takeAll(queue)).toHaveLength(LIMITS.host.most);
  });

  it('limits each tenant to its share, over all hosts', () => {
    const { queue } = queueOf(...Array.from({ length: 4 }, (_, at) => many(LEAST, `host ${at}`, 'one')).flat());
    expect(takeAll(queue)).toHaveLength(LIMITS.tenant.least);
  });

  it('prefers hosts without deliveries in flight, and alternates between them', () => {
    const { queue } = queueOf(...many(3, 'a'), ...many(3, 'b'), ...many(1, 'c'));
    expect(takeAll(queue).map(({ host }) => host)).toEqual(['a', 'b', 'c', 'a', 'b', 'a', 'b']);
  });

  it('limits the number of slots in total', () => {
    const { queue } = queueOf(...Array.from({ length: LIMITS.all + 1 }, (_, at) => due(`host ${at}`)));
    const under = takeAll(queue);
    expect(under).toHaveLength(LIMITS.all);
    queue.freeSlot(under[0]!);
    expect(takeAll(queue)).toHaveLength(1);
  });

  it('contains a delivery once, queued or in flight', () => {
    const [first, second] = [due('a'), due('a')];
    const { queue, taken } = queueOf(first, first, second);
    expect(taken).toEqual([true, true, true]);
    expect(queue.takeNext()).toBe(first);
    expect(queue.add(first)).toBe(true);
    expect(takeAll(queue)).toEqual([second]);
    queue.freeSlot(first, true);
    queue.add(first);
    expect(takeAll(queue)).toEqual([first]);
  });

  it('queues no more than a host may soon have in flight, and reports when there is room', () => {
    const { queue, taken } = queueOf(...many(8 * LEAST + 1, 'a'));
    expect(taken.indexOf(false)).toBe(8 * LEAST);
    // Others are not concerned.
    expect(queue.add(due('b'))).toBe(true);
    const room: number[] = [];
    for (let left = 8 * LEAST; left; left--) {
      const next = queue.takeNext()!;
      // The outcome was neither a success nor a failure, so the allowance of the host is unchanged.
      queue.freeSlot(next);
      if (next.host === 'b') left += 1;
      else if (queue.wantsMore(next)) room.push(left - 1);
    }
    expect(room[0]).toBe(2 * LEAST);
    expect(queue.wantsMore(due('b'))).toBe(false);
  });

  it('accepts the first delivery of every tenant and host, however many are queued', () => {
    const { queue } = queueOf();
    let hosts = 0;
    while (many(8 * LEAST, `host ${(hosts += 1)}`).every((each) => queue.add(each)));
    expect(hosts * 8 * LEAST).toBeGreaterThan(4096);
    expect(queue.add(due('new'))).toBe(true);
    expect(queue.add(due('new'))).toBe(false);
  });

  it('reports the hosts and tenants with deliveries, and those that are full', () => {
    const { queue } = queueOf(...many(8 * LEAST, 'a'), due('b'), due('', 'gone'));
    expect(queue.present()).toEqual({
      hosts: new Set(['a', 'b']),
      tenants: new Set(['tenant of a', 'tenant of b', 'gone']),
    });
    expect(queue.full()).toMatchObject({ lanes: [{ tenantId: 'tenant of a', host: 'a' }], others: 2 });
    takeAll(queue);
    expect(queue.full()).toMatchObject({ lanes: [], others: 8 * LEAST + 2 });
    expect(queue.present().hosts).toEqual(new Set(['a', 'b']));
  });

  it('drops queued deliveries, not those in flight', () => {
    const [first, second] = [due('a'), due('a')];
    const { queue } = queueOf(first, second);
    queue.takeNext();
    queue.clear();
    expect(queue.takeNext()).toBeUndefined();
    queue.add(first);
    queue.add(second);
    expect(takeAll(queue)).toEqual([second]);
  });
});
