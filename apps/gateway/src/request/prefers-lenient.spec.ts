import { prefersLenient } from './prefers-lenient.js';

describe('the header Prefer', () => {
  it.each([
    ['handling=lenient'],
    ['Handling = Lenient'],
    ['handling="lenient"'],
    ['respond-async, handling=lenient'],
    ['respond-async,wait=100 , handling=lenient; x="a, handling=strict"; y'],
    ['foo="a \\", handling=strict", handling=lenient'],
    ['foo;bar;;baz=1, handling=lenient'],
    [', ,handling=lenient,'],
    ['handling=lenient, handling=strict'],
  ])('%s asks to drop unknown members', (header) => {
    expect(prefersLenient(header)).toBe(true);
  });

  it.each([
    [undefined],
    [''],
    ['handling=strict'],
    ['handling'],
    ['handling=""'],
    ['handling=lenientish'],
    ['handling=strict, handling=lenient'],
    ['return=minimal'],
    ['x-handling=lenient'],
    ['lenient'],
    ['foo="handling=lenient'],
    ['foo="a, handling=lenient"'],
    ['foo;handling=lenient'],
    ['handling=lenient x'],
    ['(), handling=lenient'],
  ])('%s does not ask to drop unknown members', (header) => {
    expect(prefersLenient(header)).toBe(false);
  });

  it('may be repeated', () => {
    expect(prefersLenient(['return=minimal', 'handling=lenient'])).toBe(true);
  });

  it.each(['a;', ';', ' ', 'a="', 'a=b;c="d";', ', ', '"\\"', 'handling=x ; '])(
    'with many repetitions of %j is read in linear time',
    (part) => {
      const start = performance.now();
      prefersLenient(`a${part.repeat(200_000 / part.length)}"`);
      expect(performance.now() - start).toBeLessThan(500);
    },
  );
});
