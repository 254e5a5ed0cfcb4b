import { getMetadataStorage, type ValidatorConstraintInterface } from 'class-validator';
import {
  adviceOnMissing,
  isOwnRule,
  locatedJsonFault,
  MAX_DETAILS,
  nestedTypeOf,
  normalizerOf,
  REFUSED_NAME,
  rulesOf,
  shownPath,
  type DeclaredRule,
  type DtoClass,
  type ErrorDetail,
  type JsonBounds,
} from '@attestry/contracts';

/** The message of the fault, if there is one. */
type Check = (value: unknown, object: object) => string | undefined;

/** As {@link Check}, with the path of what is too large within the value. */
type Maximum = (value: unknown, object: object) => { msg: string; path: readonly string[] } | undefined;

interface CompiledMember {
  name: string;
  normalize: ((value: unknown) => unknown) | undefined;
  /** Message of a request without it. */
  missing: string;
  /** Where one of them is false the member is not checked. */
  conditions: readonly ((object: object, value: unknown) => boolean)[];
  /** Of arrays, maps and texts; checked before any other rule visits the value. */
  maxima: readonly Maximum[];
  rules: readonly Check[];
  /** The value is any JSON: it is copied. */
  open: boolean;
  nested: CompiledShape | undefined;
  /** Most entries, where the value is an array of {@link nested}. */
  listMax: number | undefined;
}

/** A DTO class as functions, in the order in which class-validator checks its declarations. */
export interface CompiledShape {
  type: DtoClass<object>;
  /** Of the members. */
  names: ReadonlySet<string>;
  members: readonly CompiledMember[];
}

/** Rules of class-validator that take linear time. */
const LINEAR_RULES: ReadonlySet<string> = new Set([
  'arrayContains',
  'arrayMaxSize',
  'arrayMinSize',
  'arrayNotEmpty',
  'isArray',
  'isBoolean',
  'isEmail',
  'isIn',
  'isInt',
  'isIso8601',
  'isLength',
  'isString',
  'matches',
  'max',
  'maxLength',
  'min',
  'minLength',
]);
const TEXT_RULES = ['isString', 'isEmail', 'isIso8601', 'matches', 'isLength', 'maxLength', 'minLength'];
const SCALAR_RULES = ['isIn', 'isInt', 'isBoolean'];

const compiled = new Map<DtoClass, CompiledShape>();

/**
 * The compiled shape of a DTO class, made once.
 * @throws Error that names each member whose declaration is not known here or has no maximum
 */
export const shapeOf = (type: DtoClass): CompiledShape => {
  const known = compiled.get(type);
  if (known) return known;
  const faults: string[] = [];
  const shape = compile(type, [], faults);
  if (faults.length) throw new Error(`shapes: ${faults.join('; ')}`);
  compiled.set(type, shape);
  return shape;
};

const compile = (type: DtoClass, within: readonly DtoClass[], faults: string[]): CompiledShape => {
  const byMember = Map.groupBy(rulesOf(type), ({ propertyName }) => propertyName);
  if (byMember.size === 0) faults.push(`${type.name} has no members`);
  const members = [...byMember].map(([name, rules]) =>
    compileMember(type, name, rules, [...within, type], (what) => faults.push(`${type.name}.${name} ${what}`)),
  );
  return { type, names: new Set(byMember.keys()), members };
};

const compileMember = (
  type: DtoClass,
  name: string,
  declared: readonly DeclaredRule[],
  within: readonly DtoClass[],
  fault: (what: string) => void,
): CompiledMember => {
  for (const rule of declared) {
    const unknown = unknownPartOf(rule);
    if (unknown) fault(unknown);
  }
  const custom = declared.filter(({ type: kind }) => kind === 'customValidation');
  const nestedRules = declared.filter(({ type: kind }) => kind === 'nestedValidation');
  const nestedType = nestedRules.length > 0 ? nestedTypeOf(type, name) : undefined;
  const isList = nestedRules.some(({ each }) => each);
  if (isList && !nestedType) fault('is an array of objects without a class: use NestedList');
  for (const missing of missingMaxima(custom, nestedType, isList)) fault(missing);
  if (nestedType && within.includes(nestedType)) fault('contains itself');
  const nestedFaults: string[] = [];
  const nested = nestedType && !within.includes(nestedType) ? compile(nestedType, within, nestedFaults) : undefined;
  for (const one of nestedFaults) fault(`contains ${one}`);
  const advice = adviceOnMissing(type, name);
  return {
    name,
    normalize: normalizerOf(type, name),
    missing: advice === undefined ? 'is required' : `is required: ${advice}`,
    conditions: declared
      .filter(({ type: kind }) => kind === 'conditionalValidation')
      .map(({ constraints }) => constraints![0] as CompiledMember['conditions'][number]),
    maxima: custom
      .map((rule): [number, Maximum | undefined] => [rule.name === 'arrayMaxSize' ? 0 : 1, maximumOf(type, rule)])
      .filter((entry): entry is [number, Maximum] => entry[1] !== undefined)
      .sort(([a], [b]) => a - b)
      .map(([, check]) => check),
    rules: custom.map((rule) => checkOf(type, rule)),
    open: custom.some((rule) => rule.name === 'json'),
    nested,
    listMax: isList ? (custom.find((rule) => rule.name === 'arrayMaxSize')?.constraints?.[0] as number) : undefined,
  };
};

/** Why a rule cannot be compiled. */
const unknownPartOf = (rule: DeclaredRule): string | undefined => {
  const { name = '' } = rule;
  if (rule.groups?.length || rule.always !== undefined || rule.context !== undefined || rule.validateIf !== undefined)
    return `has the rule ${name || rule.type} with options that are not supported`;
  switch (rule.type) {
    case 'customValidation':
      if (!LINEAR_RULES.has(name) && !isOwnRule(name)) return `has the rule ${name}, which is not supported`;
      return getMetadataStorage().getTargetValidatorConstraints(rule.constraintCls).length === 1
        ? undefined
        : `has the rule ${name}, which is not a single function`;
    case 'conditionalValidation':
      return rule.each ? 'has a condition for each entry' : undefined;
    case 'nestedValidation':
      return undefined;
    default:
      return `has a declaration ${rule.type}, which is not supported`;
  }
};

/** What has to be declared beside the rules of a member, so that its values are bounded. */
const missingMaxima = (rules: readonly DeclaredRule[], nested: DtoClass | undefined, isList: boolean): string[] => {
  const has = (each: boolean, ...names: string[]) =>
    rules.some(({ name, each: own }) => names.includes(name ?? '') && Boolean(own) === each);
  const hasLength = (each: boolean) =>
    rules.some((rule) => Boolean(rule.each) === each && maxLengthOf(rule) !== undefined);
  if (nested && isList)
    return has(false, 'isArray') && has(false, 'arrayMaxSize') && has(true, 'isRecord')
      ? []
      : ['must not be an array of objects: use NestedList'];
  if (nested) return has(false, 'isRecord') ? [] : ['must not be an object: use Nested'];
  const isArray = has(false, 'isArray');
  const entriesOf = (): string[] => {
    if (has(false, 'json', 'roles') || has(true, ...SCALAR_RULES)) return [];
    return has(true, 'isString') && hasLength(true) ? [] : ['has entries without a maximum'];
  };
  if (isArray) return [...(has(false, 'arrayMaxSize') ? [] : ['is an array without a maximum']), ...entriesOf()];
  if (rules.some(({ each }) => each)) return ['has rules for each entry but is not declared as an array'];
  if (has(false, 'json')) return [];
  if (has(false, 'isRecord')) return ['is a map without a maximum'];
  if (has(false, ...SCALAR_RULES)) return [];
  if (has(false, ...TEXT_RULES)) return hasLength(false) ? [] : ['is a string without a maximum'];
  return ['has no rule that names its type'];
};

const maxLengthOf = ({ name, constraints = [] }: DeclaredRule): number | undefined => {
  const length = name === 'maxLength' ? constraints[0] : name === 'isLength' ? constraints[1] : undefined;
  return typeof length === 'number' ? length : undefined;
};

/** A surrogate pair with a variation selector counts as one character: three units are the most that one can have. */
const UNITS_OF_A_CHARACTER = 3;

/** The part of a rule that limits sizes. */
const maximumOf = (type: DtoClass, rule: DeclaredRule): Maximum | undefined => {
  if (rule.name === 'json') {
    const [bounds] = rule.constraints as [JsonBounds];
    return (value) => locatedJsonFault(value, bounds);
  }
  const message = messageOf(type, rule);
  const fault = (value: unknown, object: object) => ({ msg: message(value, object), path: [] });
  if (rule.name === 'arrayMaxSize') {
    const [most] = rule.constraints as [number];
    return (value, object) => (Array.isArray(value) && value.length > most ? fault(value, object) : undefined);
  }
  const most = maxLengthOf(rule);
  if (most === undefined) return undefined;
  const { validate, argumentsOf } = constraintOf(type, rule);
  const isTooLong = (text: unknown, object: object): boolean =>
    typeof text === 'string' &&
    text.length > most &&
    (text.length > most * UNITS_OF_A_CHARACTER || !validate(text, argumentsOf(text, object)));
  if (!rule.each) return (value, object) => (isTooLong(value, object) ? fault(value, object) : undefined);
  return (value, object) => {
    const place = Array.isArray(value) ? value.findIndex((entry) => isTooLong(entry, object)) : -1;
    return place < 0 ? undefined : { msg: `must have at most ${most} characters`, path: [String(place)] };
  };
};

const checkOf = (type: DtoClass, rule: DeclaredRule): Check => {
  const { validate, argumentsOf } = constraintOf(type, rule);
  const message = messageOf(type, rule);
  return (value, object) => {
    const args = argumentsOf(value, object);
    const isValid =
      rule.each && Array.isArray(value) ? value.every((entry) => validate(entry, args)) : validate(value, args);
    return isValid ? undefined : message(value, object);
  };
};

type Arguments = NonNullable<Parameters<ValidatorConstraintInterface['validate']>[1]>;

const constraintOf = (type: DtoClass, rule: DeclaredRule) => {
  const instance = getMetadataStorage().getTargetValidatorConstraints(rule.constraintCls)[0]?.instance;
  const { propertyName: property, constraints = [] } = rule;
  return {
    instance,
    validate: (value: unknown, args: Arguments): boolean => Boolean(instance?.validate(value, args)),
    argumentsOf: (value: unknown, object: object): Arguments => ({
      targetName: type.name,
      property,
      object,
      value,
      constraints,
    }),
  };
};

/** As class-validator words it: the declared message or the rule's own, with its tokens replaced. */
const messageOf = (type: DtoClass, rule: DeclaredRule): ((value: unknown, object: object) => string) => {
  const { instance, argumentsOf } = constraintOf(type, rule);
  const { message, constraints = [], propertyName } = rule;
  const replaced = (text: string): string =>
    text.includes('$')
      ? constraints
          .reduce<string>(
            (message, constraint, index) =>
              message.replaceAll(`$constraint${index + 1}`, () =>
                Array.isArray(constraint) ? constraint.join(', ') : String(constraint),
              ),
            text,
          )
          .replaceAll('$property', propertyName)
          .replaceAll('$target', type.name)
      : text;
  if (typeof message === 'string' && message) {
    const text = replaced(message);
    return () => text;
  }
  if (typeof message === 'function')
    return (value, object) => replaced((message as (args: Arguments) => string)(argumentsOf(value, object)));
  return (value, object) => replaced(instance?.defaultMessage?.(argumentsOf(value, object)) ?? '');
};

// ---- requests -----------------------------------------------------------------------------------------------------------

/** Longest rejected value that is echoed, as JSON. */
const MAX_ECHO = 200;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An instance with the declared members; no other member of the source is visited. */
export const readMembers = ({ type, members }: CompiledShape, source: object): object => {
  const instance = new type() as Record<string, unknown>;
  for (const { name, normalize, nested, listMax } of members) {
    if (!Object.hasOwn(source, name)) continue;
    const given: unknown = (source as Record<string, unknown>)[name];
    // A list is read entry by entry, unless it is refused as a whole.
    const isList = listMax !== undefined && Array.isArray(given) && given.length <= listMax && given.every(isRecord);
    const value =
      nested && isList
        ? given.map((entry) => readMembers(nested, entry))
        : nested && listMax === undefined && isRecord(given)
          ? readMembers(nested, given)
          : given;
    instance[name] = normalize ? normalize(value) : value;
  }
  return instance;
};

/** Collects the faults of one part of a request. */
export interface Faults {
  details: ErrorDetail[];
  location: ErrorDetail['location'];
  /** Members of the part whose values are not echoed. */
  secrets: readonly string[];
}

/** Checks the members of an instance, at most one fault each, those of nested objects after their own. */
export const checkMembers = ({ members }: CompiledShape, instance: object, faults: Faults, path = ''): void => {
  const values = instance as Record<string, unknown>;
  for (const member of members) {
    if (faults.details.length >= MAX_DETAILS) return;
    let value = values[member.name];
    if (!member.conditions.every((holds) => holds(instance, value))) continue;
    const param = path ? `${path}.${member.name}` : member.name;
    const excess = firstFault(member.maxima, value, instance);
    let msg = excess?.msg;
    if (msg === undefined) {
      if (member.open && typeof value === 'object') values[member.name] = value = plainCopy(value);
      msg = firstFault(member.rules, value, instance);
    }
    if (msg !== undefined) {
      const hidden = faults.secrets.includes(param.split('.', 1)[0]!);
      faults.details.push({
        ...(hidden || excess?.path.length ? {} : echo(value)),
        msg: value === undefined ? member.missing : msg,
        param: excess ? shownPath([param, ...excess.path]) : param,
        location: faults.location,
      });
    } else if (member.nested && member.listMax !== undefined)
      for (const [index, entry] of (value as object[]).entries())
        checkMembers(member.nested, entry, faults, `${param}.${index}`);
    else if (member.nested) checkMembers(member.nested, value as object, faults, param);
  }
};

const firstFault = <T>(
  checks: readonly ((value: unknown, object: object) => T | undefined)[],
  value: unknown,
  object: object,
): T | undefined => {
  for (const check of checks) {
    const fault = check(value, object);
    if (fault !== undefined) return fault;
  }
  return undefined;
};

/** Plain data, without members named `__proto__`. The value is within its bounds, so that recursion is too. */
export const plainCopy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plainCopy);
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value))
    if (name !== REFUSED_NAME) copy[name] = plainCopy((value as Record<string, unknown>)[name]);
  return copy;
};

/** The rejected value, unless it is long; only the echoed part is visited. */
const echo = (value: unknown): { value?: unknown } => {
  if (value === undefined || leastLength(value, MAX_ECHO) > MAX_ECHO) return {};
  const shown = plainCopy(value);
  const text = typeof shown === 'string' ? shown : JSON.stringify(shown);
  return text !== undefined && text.length <= MAX_ECHO ? { value: shown } : {};
};

/** A length that the value has as JSON at least, counted up to `most`. */
const leastLength = (value: unknown, most: number): number => {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  let length = 2;
  if (Array.isArray(value)) {
    for (const entry of value as unknown[]) {
      if (length > most) break;
      length += leastLength(entry, most - length);
    }
    return length;
  }
  for (const name of Object.keys(value)) {
    if (length > most) break;
    if (name === REFUSED_NAME) continue;
    length += name.length + 3 + leastLength((value as Record<string, unknown>)[name], most - length);
  }
  return length;
};
