import { actorOf, chosenActors, namedActor } from './event-actors.js';

const chosen = (clientIds?: string[], managementUserIds?: string[]) => {
  const set = chosenActors(clientIds, managementUserIds);
  return set && { kinds: [...set.kinds].sort(), named: [...set.named].sort() };
};

describe('actors', () => {
  it.each([{ clientId: 'abc' }, { managementUserId: 'u1' }, {}])('are parsed from one string: %p', (actor) => {
    expect(namedActor(actorOf(actor))).toEqual(actor);
  });

  it('are all actors without a filter', () => expect(chosen()).toBeUndefined());

  it.each([
    [['a', 'b'], undefined, [], ['ca', 'cb']],
    [['*'], undefined, ['c'], []],
    [['none'], undefined, ['', 'u'], []],
    [['none', 'a'], undefined, ['', 'u'], ['ca']],
    [['none', '*'], undefined, ['', 'c', 'u'], []],
    [undefined, ['x'], [], ['ux']],
    [undefined, ['none'], ['', 'c'], []],
    // Both filters hold at once.
    [['a'], ['x'], [], []],
    [['a'], ['none'], [], ['ca']],
    [['none'], ['x'], [], ['ux']],
    [['none'], ['none'], [''], []],
    [['*'], ['*'], [], []],
    [['*'], ['none'], ['c'], []],
    [['a', 'none'], ['x', 'none'], [''], ['ca', 'ux']],
    [[], undefined, [], []],
  ] as [string[] | undefined, string[] | undefined, string[], string[]][])(
    'of clients %j and people %j are %j and %j',
    (clientIds, managementUserIds, kinds, named) =>
      expect(chosen(clientIds, managementUserIds)).toEqual({ kinds, named }),
  );
});
