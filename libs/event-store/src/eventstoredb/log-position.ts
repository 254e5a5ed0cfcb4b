import type { Position } from '../event-store.js';

/** Position of a record in the server's log. Outside the adapter it is the text `<commit>/<prepare>`, decimal. */
export interface LogPosition {
  commit: bigint;
  prepare: bigint;
}

export const toText = ({ commit, prepare }: LogPosition): Position => `${commit}/${prepare}`;

/** @throws RangeError for the position of another store */
export const fromText = (text: Position): LogPosition => {
  const [, commit, prepare] = /^(\d{1,20})\/(\d{1,20})$/.exec(text) ?? [];
  if (commit === undefined || prepare === undefined) throw new RangeError(`${text} is not a position of this store`);
  return { commit: BigInt(commit), prepare: BigInt(prepare) };
};

const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

export const comparePositions = (a: LogPosition, b: LogPosition): number =>
  order(a.commit, b.commit) || order(a.prepare, b.prepare);

/** The latest of the defined positions. */
export const latest = (...positions: (LogPosition | undefined)[]): LogPosition | undefined =>
  positions.reduce((last, next) => (last && (!next || comparePositions(last, next) >= 0) ? last : next), undefined);
