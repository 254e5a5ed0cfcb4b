import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUS_PARTICIPANTS, busRights, callersOf } from './bus-rights.js';
import type { BusParticipant } from './services.js';
import { OPERATIONS } from './registry.js';

const root = join(import.meta.dirname, '..', '..', '..');
const textOf = (folder: string): string =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile() && it.name.endsWith('.ts') && !it.name.endsWith('.spec.ts'))
    .map((it) => readFileSync(join(it.parentPath, it.name), 'utf8'))
    .join('\n');
const sourceOf = Object.fromEntries(
  BUS_PARTICIPANTS.map((participant) => [participant, textOf(`apps/${participant}/src`)]),
) as Record<BusParticipant, string>;
const camel = (words: string): string => words.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const mentions = (participant: BusParticipant, word: string) => new RegExp(`\\b${word}\\b`).test(sourceOf[participant]);

// Every test that runs a service finds out whether a right is missing: see RestrictedBus.
/** Published by release 0.2.0 only, which may run beside this one. */
const FORMER = new Set(['event.tenant-config.issuer-domain-verified']);

describe('rights on the bus', () => {
  it('name no operation that the caller does not use', () => {
    for (const operation of OPERATIONS.filter(({ http }) => !http))
      for (const caller of callersOf(operation))
        expect([operation.name, caller, mentions(caller, camel(operation.useCase))]).toEqual([
          operation.name,
          caller,
          true,
        ]);
  });

  it.each(BUS_PARTICIPANTS)('of %s name only events, consumers and listeners that its source uses', (participant) => {
    const { publishes, consumes, listens } = busRights(participant);
    const facts = publishes.filter((subject) => subject.startsWith(`event.${participant}.`) && !FORMER.has(subject));
    expect(facts.filter((subject) => !mentions(participant, camel(subject.split('.')[2]!)))).toEqual([]);
    const reads = [...consumes, ...listens].filter(({ name }) => name !== 'keys.evictions');
    expect(reads.filter(({ name }) => !sourceOf[participant].includes(`'${name}'`))).toEqual([]);
    for (const { name } of reads) expect(name).toMatch(new RegExp(`^${participant}\\.[a-z-]+$`));
  });

  it('give each subject of a service only to that service', () => {
    for (const participant of BUS_PARTICIPANTS)
      for (const subject of busRights(participant).publishes) {
        const [kind, owner] = subject.split('.');
        const participants: readonly string[] = BUS_PARTICIPANTS;
        if (participants.includes(owner!)) expect([kind, owner]).toEqual([kind, participant]);
        else expect(subject).toBe('event.keys.destroyed');
      }
  });

  it('let each listener of the gateway read one service: its filter is one prefix', () => {
    for (const { name, subjects } of busRights('gateway').listens)
      expect([name, new Set(subjects.map((subject) => subject.split('.')[1])).size]).toEqual([name, 1]);
  });

  it('allow each service to be called by its callers', () => {
    for (const participant of BUS_PARTICIPANTS) {
      const callers = BUS_PARTICIPANTS.filter((other) =>
        busRights(other).calls.some((it) => busRights(participant).serves.includes(it)),
      );
      expect([...busRights(participant).calledBy].sort()).toEqual(callers.sort());
    }
  });
});
