/**
 * The actor as one index value: `c` and the id of a client, `u` and the id of a person, empty for wallets. The first letter separates the
 * kinds in every sort order.
 */
export type Kind = 'c' | 'u' | '';

export const actorOf = ({ clientId, managementUserId }: { clientId?: string; managementUserId?: string }): string =>
  managementUserId !== undefined ? `u${managementUserId}` : clientId !== undefined ? `c${clientId}` : '';

/** Index value for the actor in the metadata of a domain event: `client:<id>`, `user:<id>`, or without name. */
export const actorOfEvent = (actor: string): string =>
  actor.startsWith('client:') || actor.startsWith('user:')
    ? `${actor.slice(0, 1)}${actor.slice(actor.indexOf(':') + 1)}`
    : '';

export const namedActor = (actor: string): { clientId?: string; managementUserId?: string } =>
  actor.startsWith('c') ? { clientId: actor.slice(1) } : actor ? { managementUserId: actor.slice(1) } : {};

/** Number of actors of each kind, and single actors by name. */
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
 * Ids of clients or of people that the filters of a query select; `none` selects no actor of that kind, `*` every one. The two filters are
 * ANDed. `undefined`: no filter.
 */
export const chosenActors = (
  clientIds: readonly string[] | undefined,
  managementUserIds: readonly string[] | undefined,
): ActorSet | undefined => {
  const clients = clientIds && setOf('c', clientIds);
  const people = managementUserIds && setOf('u', managementUserIds);
  return clients && people ? both(clients, people) : (clients ?? people);
};
