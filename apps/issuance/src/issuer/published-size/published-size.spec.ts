import type { AppError } from '@attestry/contracts';
import { checkPublishedSize, MOST_BYTES, MOST_CONFIGURATIONS } from './published-size.decisions.js';

const check = (others: { configurations?: number; bytes?: number }, bytes: number, replaced?: number) => {
  try {
    checkPublishedSize({ configurations: 1, bytes: 0, ...others }, bytes, replaced);
    return undefined;
  } catch (error) {
    const { kind, message } = error as AppError;
    return [kind, message];
  }
};
const TOO_LARGE = (total: number) => [
  'conflict',
  `The issuer metadata of all credential configurations would have ${total} bytes, and at most 2097152 are allowed: use smaller images or fewer entries of display`,
];

describe('the issuer metadata of a tenant [T520]', () => {
  it('have at most 1000 credential configurations; those that exist can be changed', () => {
    expect(check({ configurations: MOST_CONFIGURATIONS - 1 }, 1)).toBeUndefined();
    expect(check({ configurations: MOST_CONFIGURATIONS }, 1)).toEqual([
      'conflict',
      'A tenant can have at most 1000 credential configurations',
    ]);
    expect(check({ configurations: MOST_CONFIGURATIONS }, 1, 1)).toBeUndefined();
  });

  it('have at most 2 MiB of them', () => {
    expect(check({ bytes: MOST_BYTES - 10 }, 10)).toBeUndefined();
    expect(check({ bytes: MOST_BYTES - 10 }, 11)).toEqual(TOO_LARGE(MOST_BYTES + 1));
    expect(check({ bytes: 0 }, MOST_BYTES + 1)).toEqual(TOO_LARGE(MOST_BYTES + 1));
    expect(check({ bytes: MOST_BYTES - 10 }, 11, 10)).toEqual(TOO_LARGE(MOST_BYTES + 1));
  });

  it('may become smaller, also where it is above the limit', () => {
    expect(check({ bytes: 2 * MOST_BYTES }, 10, 11)).toBeUndefined();
    expect(check({ bytes: 2 * MOST_BYTES }, 11, 11)).toBeUndefined();
    expect(check({ bytes: 2 * MOST_BYTES }, 12, 11)).toEqual(TOO_LARGE(2 * MOST_BYTES + 12));
  });
});
