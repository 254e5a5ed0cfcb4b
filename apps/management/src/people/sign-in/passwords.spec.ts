import { argon2Sync } from 'node:crypto';
import { Passwords } from './passwords.js';

describe('hashes of passwords', () => {
  const passwords = new Passwords();

  it('are argon2id with a salt each, and verify only the right password', async () => {
    const [one, two] = await Promise.all([passwords.hash('correct horse', 'a'), passwords.hash('correct horse', 'a')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(two).not.toBe(one);
    expect(await passwords.verify('correct horse', one, 'a')).toBe(true);
    expect(await passwords.verify('correct horsf', one, 'a')).toBe(false);
    expect(await passwords.verify('correct horse', undefined, 'a')).toBe(false);
  });

  it('match the reference, and are verified with the parameters that they were created with', async () => {
    const nonce = Buffer.from('0123456789abcdef');
    const hash = argon2Sync('argon2id', {
      message: 'pässword',
      nonce,
      memory: 64,
      passes: 3,
      parallelism: 2,
      tagLength: 24,
    });
    const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
    const stored = `$argon2id$v=19$m=64,t=3,p=2$${text(nonce)}$${text(hash)}`;
    expect(await passwords.verify('pässword', stored, 'a')).toBe(true);
    // Typed as two code points.
    expect(await passwords.verify('pa\u0308ssword', stored, 'a')).toBe(true);
    await expect(passwords.verify('x', 'plain', 'a')).rejects.toThrow('not an argon2id hash');
  });

  it('are limited: a caller gets an error when too many wait', async () => {
    const crowd = await Promise.allSettled(
      Array.from({ length: 70 }, (_, n) => passwords.verify('x', undefined, `caller ${n}`)),
    );
    expect(crowd.filter(({ status }) => status === 'rejected')).toHaveLength(4);
    expect(await passwords.verify('x', undefined, 'a')).toBe(false);
  }, 60_000);

  it('are limited to four at once for one caller, so that others can use the queue', async () => {
    const calls = Array.from({ length: 70 }, () => passwords.verify('x', undefined, 'flooding'));
    const others = [passwords.verify('x', undefined, 'other'), passwords.hash('x', 'another')];
    const refused = (await Promise.allSettled(calls)).filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(66);
    expect(refused[0]).toMatchObject({ reason: { kind: 'tooManyRequests', headers: { 'retry-after': '1' } } });
    expect((await Promise.allSettled(others)).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(await passwords.verify('x', undefined, 'flooding')).toBe(false);
  }, 60_000);
});
