import { randomUUID } from 'node:crypto';
import { isUuid } from '@attestry/contracts';
import { firstSessionId } from './first-session-id.js';

describe('the id of the first session of a user', () => {
  it('is a UUID with the time of the user, always the same and never the user itself', () => {
    const userId = '01890a5d-ac96-774b-bcce-b302099a8057';
    const id = firstSessionId(userId);
    expect(isUuid(id)).toBe(true);
    expect(id).toMatch(/^01890a5d-ac96-7/);
    expect(firstSessionId(userId)).toBe(id);
    expect(id).not.toBe(userId);
  });

  it('differs for every user', () => {
    const users = Array.from({ length: 1000 }, () => randomUUID());
    expect(new Set(users.map(firstSessionId)).size).toBe(1000);
    expect(firstSessionId('01890a5d-ac96-774b-bcce-b302099a8057')).not.toBe(
      firstSessionId('01890a5d-ac96-774b-bcce-b302099a8058'),
    );
  });
});
