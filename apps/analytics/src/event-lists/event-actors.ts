/**
 * Who acted, as one text for one index: `c` and the id of a client, `u` and the id of a person, nothing for wallets.
 * The first letter tells the kinds apart in every order of texts.
 */
export type Kind = 'c' | 'u' | '';

export const actorOf = ({ clientId, managementUserId }: { clientId?: string; managementUserId?: string }): string =>
  managementUserId !== undefined ? `u${managementUserId}` : clientId !== undefined ? `c${clientId}` : '';

export const namedActor = (actor: string): { clientId?: string; managementUserId?: string } =>
  actor.startsWith('c') ? { clientId: actor.slice(1) } : actor ? { managementUserId: actor.slice(1) } : {};

/** Actors by kind, whoever they are, and by name. */
export interface ActorSet {
  kinds: ReadonlySet<Kind>;
  named: ReadonlySet<string>;
}

const kindOf = (actor: string): Kind => actor.slice(0, 1) as Kind;
const others = (kind: Kind): Kind[] => (['c', 'u', ''] as const).filter((it) => it !== kind);

const setOf = (kind: 'c' | 'u', values: readonly string[]): ActorSet => ({
  kinds: new Set(values.flatMap((value) => (value === 'none' ? others(kind) : value === '*' ? [kind] : []))),
  named: new Set(values.flatMap((value) => (value === 'none' || value === '*' ? [] : [`${kind}${value}`]))),
});

const both = (one: ActorSet, other: ActorSet): ActorSet => ({
  kinds: new Set([...one.kinds].filter((kind) => other.kinds.has(kind))),
  named: new Set([
    ...[...one.named].filter((actor) => other.named.has(actor) || other.kinds.has(kindOf(actor))),
    ...[...other.named].filter((actor) => one.kinds.has(kindOf(actor))),
  ]),
});

/**
 * What the filters of a query leave: ids of clients or of people; `none` is nobody of that kind, `*` anybody of it. The two
 * filters are ANDed. `undefined`: no filter.
 */
export const chosenActors = (
  clientIds: readonly string[] | undefined,
  managementUserIds: readonly string[] | undefined,
): ActorSet | undefined => {
  const clients = clientIds && setOf('c', clientIds);
  const people = managementUserIds && setOf('u', managementUserIds);
  return clients && people ? both(clients, people) : (clients ?? people);
};
