import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUS_PARTIES, busRights, callersOf } from './bus-rights.js';
import type { BusParty } from './services.js';
import { OPERATIONS } from './registry.js';

const root = join(import.meta.dirname, '..', '..', '..');
const textOf = (folder: string): string =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile() && it.name.endsWith('.ts') && !it.name.endsWith('.spec.ts'))
    .map((it) => readFileSync(join(it.parentPath, it.name), 'utf8'))
    .join('\n');
const sourceOf = Object.fromEntries(BUS_PARTIES.map((party) => [party, textOf(`apps/${party}/src`)])) as Record<
  BusParty,
  string
>;
const camel = (words: string): string => words.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const mentions = (party: BusParty, word: string) => new RegExp(`\\b${word}\\b`).test(sourceOf[party]);

// That nothing is missing is found out by every test that runs a service: see RestrictedBus.
describe('rights on the bus', () => {
  it('name no operation that the caller never asks for', () => {
    for (const operation of OPERATIONS.filter(({ http }) => !http))
      for (const caller of callersOf(operation))
        expect([operation.name, caller, mentions(caller, camel(operation.useCase))]).toEqual([
          operation.name,
          caller,
          true,
        ]);
  });

  it.each(BUS_PARTIES)('of %s name no event, consumer or listener that its source does not', (party) => {
    const { publishes, consumes, listens } = busRights(party);
    const facts = publishes.filter((subject) => subject.startsWith(`event.${party}.`));
    expect(facts.filter((subject) => !mentions(party, camel(subject.split('.')[2]!)))).toEqual([]);
    const reads = [...consumes, ...listens].filter(({ name }) => name !== 'keys.evictions');
    expect(reads.filter(({ name }) => !sourceOf[party].includes(`'${name}'`))).toEqual([]);
    for (const { name } of reads) expect(name).toMatch(new RegExp(`^${party}\\.[a-z-]+$`));
  });

  it('give each subject of a service to it alone', () => {
    for (const party of BUS_PARTIES)
      for (const subject of busRights(party).publishes) {
        const [kind, owner] = subject.split('.');
        const parties: readonly string[] = BUS_PARTIES;
        if (parties.includes(owner!)) expect([kind, owner]).toEqual([kind, party]);
        else expect(['event.keys.destroyed', 'operation.committed', 'operation.mark']).toContain(subject);
      }
  });

  it('let each service be asked by those who ask it', () => {
    for (const party of BUS_PARTIES) {
      const askers = BUS_PARTIES.filter((other) =>
        busRights(other).asks.some((it) => busRights(party).serves.includes(it)),
      );
      expect([...busRights(party).askedBy].sort()).toEqual(askers.sort());
    }
  });
});
