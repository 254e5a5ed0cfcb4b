import { adviceOnUnknown, READ_ONLY_MEMBERS, type ErrorDetail, type Operation } from '@attestry/contracts';
import { isRecord, type CompiledShape } from './check-members.js';

/** Unknown members that are named, for each part of a request; the rest are counted. */
const MAX_NAMED = 10;
/** Longest name that is repeated in an error; a longer one is cut. */
const MAX_NAME = 100;
/** Longest name that is compared with the known ones, which takes quadratic time. */
const MAX_COMPARED = 40;

const NONE: ReadonlySet<string> = new Set();
const readOnly = new Map(Object.entries(READ_ONLY_MEMBERS).map(([name, members]) => [name, new Set(members)]));

/** Names of the read-only members of the operation's resource, which are ignored in the body. */
export const readOnlyNamesOf = ({ name }: Operation): ReadonlySet<string> => readOnly.get(name) ?? NONE;

/**
 * A detail for each member of the source that the shape does not declare, those of nested objects last. Values are not echoed: a misspelled
 * member may be a secret. Members of open maps are data and not visited.
 * @param ignored names of the source itself that are accepted
 */
export const unknownMembers = (
  shape: CompiledShape,
  source: unknown,
  location: ErrorDetail['location'],
  ignored?: ReadonlySet<string>,
): ErrorDetail[] => {
  const details: ErrorDetail[] = [];
  let further = 0;
  const visit = ({ type, names, members }: CompiledShape, object: Record<string, unknown>, path: string): void => {
    for (const name of Object.keys(object)) {
      if (names.has(name) || (path === '' && ignored?.has(name))) continue;
      if (details.length === MAX_NAMED) further++;
      else
        details.push({
          msg: messageOf(name, [...names], adviceOnUnknown(type)),
          param: `${path}${shortened(name)}`,
          location,
        });
    }
    for (const { name, nested, listMax } of members) {
      if (!nested || !Object.hasOwn(object, name)) continue;
      const value = object[name];
      if (listMax === undefined && isRecord(value)) visit(nested, value, `${path}${name}.`);
      else if (listMax !== undefined && Array.isArray(value))
        for (const [index, entry] of value.slice(0, listMax).entries())
          if (isRecord(entry)) visit(nested, entry, `${path}${name}.${index}.`);
    }
  };
  if (isRecord(source)) visit(shape, source, '');
  if (further > 0) details.push({ msg: `has ${further} more members that are not known`, param: location, location });
  return details;
};

const shortened = (name: string): string =>
  name.length > MAX_NAME ? `${name.slice(0, MAX_NAME).toWellFormed()}…` : name;

const messageOf = (name: string, known: readonly string[], advice: string | undefined): string => {
  const nearest = nearestName(name, known);
  return `is not known${nearest === undefined ? '.' : `; did you mean "${nearest}"?`}${advice === undefined ? '' : ` ${advice}`} Allowed: ${known.join(', ')}`;
};

/** Letters and digits in lower case: `client_id`, `clientID` and `clientId` are the same. */
const plain = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** The known name that differs least, if at most a third of its characters differ. */
export const nearestName = (name: string, known: readonly string[]): string | undefined => {
  if (name.length > MAX_COMPARED) return undefined;
  const wanted = plain(name);
  if (wanted === '') return undefined;
  let nearest: { name: string; edits: number } | undefined;
  for (const candidate of known) {
    const other = plain(candidate);
    const most = Math.floor(Math.max(wanted.length, other.length) / 3);
    if (Math.abs(wanted.length - other.length) > most) continue;
    const edits = editsBetween(wanted, other, most);
    if (edits > most) continue;
    if (!nearest || edits < nearest.edits) nearest = { name: candidate, edits };
  }
  return nearest?.name;
};

/**
 * Characters to insert, delete, replace or exchange with their neighbor (optimal string alignment distance); any number above `most` when there
 * are more than that.
 */
const editsBetween = (one: string, other: string, most: number): number => {
  const { length } = other;
  let [before, last, row] = [
    new Uint16Array(length + 1),
    Uint16Array.from({ length: length + 1 }, (_, j) => j),
    new Uint16Array(length + 1),
  ];
  for (let i = 1; i <= one.length; i++) {
    const character = one.charCodeAt(i - 1);
    let least = (row[0] = i);
    for (let j = 1; j <= length; j++) {
      const known = other.charCodeAt(j - 1);
      let edits = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (character === known ? 0 : 1));
      if (i > 1 && j > 1 && character === other.charCodeAt(j - 2) && one.charCodeAt(i - 2) === known)
        edits = Math.min(edits, before[j - 2]! + 1);
      row[j] = edits;
      if (edits < least) least = edits;
    }
    // No later row has fewer, except by one exchange over the row in between.
    if (least > most + 1) return least;
    [before, last, row] = [last, row, before];
  }
  return last[length]!;
};
