import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InProcessBus } from '@attestry/messaging';
import { waitUntil } from '@attestry/testing';
import { unreadFeed } from './unread-feed.js';

const SUBJECT = 'event.dids.did-created';

describe('unread feed', () => {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'attestry-unread-'))));
  afterEach(() => rm(folder, { recursive: true }));
  const open = () => InProcessBus.open({ file: join(folder, 'feed.db'), onError: () => undefined });

  it('names no consumer of a folder without a feed', () => expect(unreadFeed(folder)).toEqual([]));

  it('names the consumers whose checkpoint is before the newest message', async () => {
    let bus = await open();
    const read = bus.consume({ name: 'a.reading', subjects: [SUBJECT] }, () => Promise.resolve());
    const failing = bus.consume({ name: 'b.failing', subjects: [SUBJECT] }, () => Promise.reject(new Error('away')));
    await bus.publish([{ id: 'e1', subject: SUBJECT, data: {} }]);
    await waitUntil(() => read.health.acknowledged !== undefined && failing.health.error === 'away');
    await bus.close();
    expect(unreadFeed(folder)).toEqual(['b.failing']);

    bus = await open();
    const again = bus.consume({ name: 'b.failing', subjects: [SUBJECT] }, () => Promise.resolve());
    await waitUntil(() => again.health.acknowledged !== undefined);
    await bus.close();
    expect(unreadFeed(folder)).toEqual([]);
  });
});
