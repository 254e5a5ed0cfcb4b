import type { AppError } from '@attestry/contracts';
import { isMaskOf, mask } from './masked-secret.js';

describe('a masked secret', () => {
  it('shows its last characters, and fewer of a short one', () => {
    expect(mask('0123456789abcdefghij')).toBe('**********fghij');
    expect(mask('0123456789abcdefghij'.repeat(5))).toBe('**********fghij');
    expect(mask('12345678')).toBe('**********78');
    expect(mask('abc')).toBe('**********');
  });

  it('is accepted as the stored secret, or refused', () => {
    const secret = '0123456789abcdefghij';
    expect(isMaskOf(mask(secret), secret, 'clientSecret')).toBe(true);
    expect(isMaskOf('a new secret', secret, 'clientSecret')).toBe(false);
    expect(isMaskOf('***', secret, 'clientSecret')).toBe(false);
    for (const [text, stored] of [
      ['**********other', secret],
      [mask(secret), undefined],
    ] as const)
      try {
        isMaskOf(text, stored, 'authorization.value');
        throw new Error('was accepted');
      } catch (error) {
        expect((error as AppError).details).toEqual([
          {
            msg: expect.stringMatching(/the masked form of the stored secret/),
            param: 'authorization.value',
            location: 'body',
          },
        ]);
      }
  });
});
