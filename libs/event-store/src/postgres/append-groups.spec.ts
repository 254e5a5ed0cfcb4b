import { AppendGroups, type NewKey, type Unit, type UnitAnswer } from './append-groups.js';

const append = (stream: string, bytes = 10): Unit => ({
  appends: [{ stream, expected: -1, events: [], bytes }],
  keys: [],
});

describe('appends in groups', () => {
  /** Groups as they were sent; `faulty` returns the error of a refused group. */
  const recorded = (faulty: (streams: string[]) => unknown = () => undefined) => {
    const sent: string[][] = [];
    const groups = new AppendGroups(async (group) => {
      const streams = group.flatMap(({ appends }) => appends.map(({ stream }) => stream));
      sent.push(streams);
      const cause = faulty(streams);
      if (cause !== undefined) throw new Error('refused', { cause });
      return group.map(({ appends }): UnitAnswer => [null, -1, appends[0]!.stream, true, []]);
    });
    return { sent, groups };
  };

  it('contain the appends that arrived while the previous group was stored', async () => {
    const { sent, groups } = recorded();
    const answers = await Promise.all(['a', 'b', 'c'].map((stream) => groups.add(append(stream))));
    expect(sent).toEqual([['a'], ['b', 'c']]);
    expect(answers.map(([, , position]) => position)).toEqual(['a', 'b', 'c']);
  });

  it('continue when an append arrives as the last group ends', async () => {
    const { sent, groups } = recorded();
    // Each comes at another moment after an answer.
    const later = async (stream: string, ticks: number) => {
      await groups.add(append(`${stream} first`));
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      return groups.add(append(stream));
    };
    for (let ticks = 0; ticks < 10; ticks++)
      expect(await later(String(ticks), ticks)).toEqual([null, -1, String(ticks), true, []]);
    expect(sent).toHaveLength(20);
    await groups.idle();
  });

  it('are limited in number and size, and an append too large for a group is sent alone', async () => {
    const { sent, groups } = recorded();
    const mega = 1024 * 1024;
    await Promise.all([
      groups.add(append('first')),
      ...Array.from({ length: 300 }, (_, n) => groups.add(append(`small ${n}`))),
      ...[5, 4, 9, 1].map((size) => groups.add(append(`${size} MiB`, size * mega))),
    ]);
    expect(sent.map((group) => group.length)).toEqual([1, 256, 45, 1, 1, 1]);
    expect(sent.slice(2).map((group) => group.at(-1))).toEqual(['5 MiB', '4 MiB', '9 MiB', '1 MiB']);
  });

  it('contain whole units, each key once, and a limited number of keys of one schema', async () => {
    const { sent, groups } = recorded();
    const key = (id: string): NewKey => ({ tenant: 't', purpose: 'user', id, sealed: new Uint8Array() });
    const unit = (name: string, keys: NewKey[], keySchema = 'keys'): Unit => ({ ...append(name), keys, keySchema });
    const { appends } = append('a');
    await Promise.all([
      groups.add(append('first')),
      groups.add({ appends: [...appends, ...append('b').appends], keys: [] }),
      groups.add(unit('one', [key('1')])),
      groups.add(unit('two', [key('2'), key('3')])),
      groups.add(unit('one again', [key('1')])),
      groups.add(append('none')),
      groups.add(unit('elsewhere', [key('4')], 'other')),
      groups.add(
        unit(
          'many',
          Array.from({ length: 63 }, (_, n) => key(`many ${n}`)),
          'other',
        ),
      ),
      groups.add(unit('more', [key('5')], 'other')),
    ]);
    expect(sent).toEqual([['first'], ['a', 'b', 'one', 'two'], ['one again', 'none'], ['elsewhere', 'many'], ['more']]);
  });

  it('are sent one by one when the server refuses the values of one', async () => {
    const { sent, groups } = recorded((streams) => (streams.includes('bad') ? { code: '22021' } : undefined));
    const results = await Promise.allSettled(['a', 'good', 'bad', 'fine'].map((stream) => groups.add(append(stream))));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(sent).toEqual([['a'], ['good', 'bad', 'fine'], ['good'], ['bad'], ['fine']]);
  });

  it('fail together when the server is unreachable, and the next group is tried', async () => {
    let away = true;
    const { sent, groups } = recorded(() => (away ? { code: '57P01' } : undefined));
    const results = await Promise.allSettled(['a', 'b', 'c'].map((stream) => groups.add(append(stream))));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(sent).toEqual([['a'], ['b', 'c']]);
    away = false;
    expect(await groups.add(append('d'))).toEqual([null, -1, 'd', true, []]);
  });
});
