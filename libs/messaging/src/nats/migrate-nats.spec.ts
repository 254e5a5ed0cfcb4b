import { replicasOf } from './migrate-nats.js';

describe('replicas of an existing stream after a migration', () => {
  it.each<[string, number, Parameters<typeof replicasOf>[1], number]>([
    ['stay where no number is given', 3, {}, 3],
    ['stay where no number is given, although fewer are allowed', 3, { fewerReplicas: true }, 3],
    ['stay where fewer are given', 3, { replicas: 1 }, 3],
    ['are lowered where fewer are given and allowed', 3, { replicas: 1, fewerReplicas: true }, 1],
    ['are raised where more are given', 1, { replicas: 3 }, 3],
    ['are raised where more are given and fewer allowed', 3, { replicas: 5, fewerReplicas: true }, 5],
    ['stay where as many are given', 3, { replicas: 3 }, 3],
  ])('%s', (_, has, options, expected) => {
    expect(replicasOf(has, options)).toBe(expected);
  });
});
