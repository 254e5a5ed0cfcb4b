import { PLATFORM_LEASE, publisherOf } from '@attestry/service-kit';
import { SERVICES } from '../services.js';
import type { HeldLeases } from './held-leases.js';
import type { History } from './history.js';

/** Reactions that publish stored events to other services, and through them to webhooks. */
export const PUBLISHERS = SERVICES.flatMap(({ name, publishes }) =>
  publishes ? [{ name: publisherOf(name), categories: publishes }] : [],
);

/** Leases of a running platform. */
export const PLATFORM_LEASES = [PLATFORM_LEASE, ...PUBLISHERS.map(({ name }) => name)];

/** Publishers that lag. One that waits for the end of a copy has published everything before it. */
export const behind = async ({ events, coordination, unreachable }: History): Promise<string[]> => {
  const found: string[] = [];
  for (const { name, categories } of PUBLISHERS) {
    const after = await coordination!.checkpoints.read(name);
    if (after === unreachable) continue;
    for (let from = after; ;) {
      const page = await events.readAll({ after: from, categories, limit: 1 });
      if (page.events.length) found.push(name);
      from = page.next;
      if (page.events.length || page.atEnd) break;
    }
  }
  return found;
};

/** Until the copy is complete no platform starts at the target, or it would publish the history. */
export const closeTarget = async ({ coordination, unreachable }: History, held: HeldLeases): Promise<void> => {
  for (const { name } of PUBLISHERS) await coordination!.checkpoints.write(name, unreachable, held.epochOf(name));
};

/** Copied events count as published: publishers continue with events stored from now on. */
export const openTarget = async ({ events, coordination }: History, held: HeldLeases): Promise<void> => {
  const head = await events.head();
  if (head === undefined) return;
  for (const { name } of PUBLISHERS) await coordination!.checkpoints.write(name, head, held.epochOf(name));
};
