import { anEvent } from './testing.js';
import { Tail } from './tail.js';

const MIB = 1_048_576;

describe('the newest events in memory', () => {
  it('have at most 32 MiB of text; a subscriber further behind reads the file', () => {
    const tail = new Tail();
    const large = anEvent({ data: 'x'.repeat(MIB) });
    for (let position = 1; position <= 200; position++) {
      tail.add('op-a', 'op', position, position - 1, [large]);
      const oldest = tail.read(position - 1, 1, undefined);
      expect(oldest?.events).toHaveLength(1);
    }
    expect(tail.read(160, 100, undefined)).toBeUndefined();
    const newest = tail.read(190, 100, undefined)!;
    expect([newest.events.length, newest.next, newest.atEnd]).toEqual([10, '200', true]);
    tail.clear();
    for (let position = 201; position <= 230; position++) tail.add('op-a', 'op', position, position, [large]);
    expect(tail.read(200, 100, undefined)?.events).toHaveLength(30);
  });
});
