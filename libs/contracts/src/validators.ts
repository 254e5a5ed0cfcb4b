import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsEmail,
  IsISO8601,
  IsString,
  Length,
  Matches,
  MaxLength,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  type ValidateByOptions,
  type ValidationOptions,
} from 'class-validator';
import { CLIENT_ID_PATTERN, isUuid, UUID_PATTERN } from './identifiers.js';
import { DEFAULT_BOUNDS, jsonFault, type JsonBounds } from './json/json-bounds.js';
import { canonicalLanguageTag, LANGUAGE_TAG_FAULT, MAX_LANGUAGE_TAG } from './language-tags.js';
import type { JsonSchema } from './openapi/json-schema.js';
import type { DtoClass } from './operation.js';
import { LANGUAGE_TAG_PATTERN, SERVICE_URL_PATTERN } from './patterns.js';
import { ROLES } from './roles.js';

/** Property decorators shared by the DTOs, with the messages the specifications show. */
export const combine =
  (...decorators: PropertyDecorator[]): PropertyDecorator =>
  (target, key) => {
    for (const decorate of decorators) decorate(target, key);
  };

/** Declarations of the decorators below, beside the rules of class-validator, by class and member. */
class Declarations<T> {
  private readonly byClass = new Map<object, Map<PropertyKey, T>>();

  /** @throws Error on a second declaration for the same member */
  add(prototype: object, member: PropertyKey, declared: T): void {
    const type = prototype.constructor;
    const members = this.byClass.get(type) ?? new Map<PropertyKey, T>();
    if (members.has(member)) throw new Error(`${type.name}.${String(member)} is declared twice`);
    this.byClass.set(type, members.set(member, declared));
  }

  /** Declaration of the class or of the nearest one it extends. */
  find(type: DtoClass, member: PropertyKey): T | undefined {
    for (let one: unknown = type; typeof one === 'function'; one = Object.getPrototypeOf(one)) {
      const found = this.byClass.get(one)?.get(member);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

const normalizers = new Declarations<(value: unknown) => unknown>();
const nestedTypes = new Declarations<DtoClass>();
const ownRules = new Set<string>();

export const normalizerOf = (type: DtoClass, member: string): ((value: unknown) => unknown) | undefined =>
  normalizers.find(type, member);
export const nestedTypeOf = (type: DtoClass, member: string): DtoClass | undefined => nestedTypes.find(type, member);
/** True for rules of this file; like the rules of class-validator that DTOs use, they take linear time. */
export const isOwnRule = (name: string): boolean => ownRules.has(name);

const ownRule = (options: ValidateByOptions, validationOptions?: ValidationOptions): PropertyDecorator => {
  ownRules.add(options.name);
  return ValidateBy(options, validationOptions);
};

/** Replaces the value of a member before its rules are checked; not called for absent members. */
export const Normalize =
  (normalize: (value: unknown) => unknown): PropertyDecorator =>
  (target, key) =>
    normalizers.add(target, key, normalize);

/** An object of another class. */
export const Nested = (type: DtoClass, options?: ValidationOptions): PropertyDecorator =>
  combine(ValidateNested(), IsRecord(options), (target, key) => nestedTypes.add(target, key, type));

/** 1 to `max` objects of another class. */
export const NestedList = (type: DtoClass, max: number): PropertyDecorator =>
  combine(
    IsArray({ message: 'must be an array' }),
    ArrayNotEmpty({ message: 'must not be empty' }),
    ArrayMaxSize(max, { message: `must have at most ${max} entries` }),
    IsRecord({ each: true, message: 'must contain only objects' }),
    ValidateNested({ each: true }),
    (target, key) => nestedTypes.add(target, key, type),
  );

const keywords = new Declarations<JsonSchema>();

/** Keywords in the interface definition for a rule that the service checks, with messages of its own. */
export const Keywords =
  (declared: JsonSchema): PropertyDecorator =>
  (target, key) =>
    keywords.add(target, key, declared);

export const keywordsOf = (type: DtoClass, member: string): JsonSchema | undefined => keywords.find(type, member);

const missing = new Declarations<string>();

/** Text that the refusal of a request without the member adds about the member. */
export const AdviceOnMissing =
  (text: string): PropertyDecorator =>
  (target, key) =>
    missing.add(target, key, text);

export const adviceOnMissing = (type: DtoClass, member: string): string | undefined => missing.find(type, member);

const advice = new Map<DtoClass, string>();

/** Text that a refusal of an unknown member of the class adds to the allowed ones. */
export const AdviceOnUnknown =
  (text: string) =>
  (type: DtoClass): void =>
    void advice.set(type, text);

export const adviceOnUnknown = (type: DtoClass): string | undefined => advice.get(type);

/** A rule on strings; values that are not strings are reported by another decorator. */
const Text = (name: string, message: string, isValid: (text: string) => boolean): PropertyDecorator =>
  ownRule({
    name,
    validator: { validate: (value) => typeof value !== 'string' || isValid(value), defaultMessage: () => message },
  });

/** No entry twice. class-validator's own rule takes quadratic time. */
export const Unique = (options?: ValidationOptions): PropertyDecorator =>
  ownRule(
    {
      name: 'arrayUnique',
      validator: {
        validate: (value) => Array.isArray(value) && new Set(value).size === value.length,
        defaultMessage: () => 'must not repeat an entry',
      },
    },
    options,
  );

/** A value whose members are not declared: any JSON within bounds, which are checked before anything else reads it. */
export const BoundedJson = (bounds: Partial<JsonBounds> = {}): PropertyDecorator => {
  const all = { ...DEFAULT_BOUNDS, ...bounds };
  return ownRule({
    name: 'json',
    constraints: [all],
    validator: {
      validate: (value) => jsonFault(value, all) === undefined,
      defaultMessage: (args) => jsonFault(args?.value, all) ?? NO_MESSAGE,
    },
  });
};

/** May be absent. `null` is checked like any other value; `IsOptional` of class-validator would accept it unchecked. */
export const Optional = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

/** String trimmed to 1..max characters, none of which is a control character or half of a surrogate pair. */
export const Name = (max = 255): PropertyDecorator =>
  combine(
    Normalize((value) => (typeof value === 'string' ? value.trim() : value)),
    IsString({ message: 'must be a string' }),
    Length(1, max, { message: `must have 1 to ${max} characters` }),
    Text('noControlCharacters', 'must not contain control characters', (text) => !/\p{Cc}/u.test(text)),
    Text('wellFormed', 'must be well-formed Unicode', (text) => text.isWellFormed()),
  );

/** A UUID, in lower case as all ids are stored (RFC 9562 §4: either case is valid in a request). */
export const Uuid = (): PropertyDecorator =>
  combine(
    Normalize((value) => (isUuid(value) ? value.toLowerCase() : value)),
    IsString({ message: 'must be a string' }),
    Matches(UUID_PATTERN, { message: 'must be a UUID' }),
    MaxLength(36, { message: 'must be a UUID' }),
  );

export const ClientId = (): PropertyDecorator =>
  combine(
    IsString({ message: 'must be a string' }),
    Matches(CLIENT_ID_PATTERN, { message: 'must have 32 letters and digits' }),
    MaxLength(32, { message: 'must have 32 letters and digits' }),
  );

/**
 * An e-mail address, in lower case as it is stored and compared; at most 254 characters (RFC 5321 §4.5.3.1.3). Quoted local parts are
 * rejected: they allow any number of spellings of the same mailbox (RFC 5321 §4.1.2).
 */
export const Email = (): PropertyDecorator =>
  combine(
    Normalize((value) => (typeof value === 'string' ? value.trim().toLowerCase() : value)),
    IsString({ message: 'must be a string' }),
    IsEmail({ blacklisted_chars: '"' }, { message: 'must be an e-mail address' }),
    Length(1, 254, { message: 'must have 1 to 254 characters' }),
  );

/** A language tag (BCP 47). */
export const LanguageTag = (): PropertyDecorator =>
  combine(
    IsString({ message: 'must be a string' }),
    MaxLength(MAX_LANGUAGE_TAG, { message: LANGUAGE_TAG_FAULT }),
    Text('languageTag', LANGUAGE_TAG_FAULT, (text) => canonicalLanguageTag(text) !== undefined),
    Keywords({ pattern: LANGUAGE_TAG_PATTERN.source }),
  );

/** Non-empty array of unique, known roles. */
export const Roles = (): PropertyDecorator =>
  combine(
    IsArray({ message: 'must be an array' }),
    ArrayNotEmpty({ message: 'must not be empty' }),
    ArrayMaxSize(ROLES.length, { message: `must have at most ${ROLES.length} entries` }),
    Unique({ message: 'must not repeat a role' }),
    ownRule({
      name: 'roles',
      validator: {
        validate: (value: unknown) =>
          Array.isArray(value) && value.every((role) => (ROLES as readonly unknown[]).includes(role)),
        defaultMessage: () => `must contain only: ${ROLES.join(', ')}`,
      },
    }),
  );

/** Message of a custom rule without a value: its faults depend on the value, so that descriptions omit it. */
export const NO_MESSAGE = 'Invalid value';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A JSON object. */
export const IsRecord = (options?: ValidationOptions): PropertyDecorator =>
  ownRule({ name: 'isRecord', validator: { validate: isRecord, defaultMessage: () => 'must be an object' } }, options);

/** Address of a service that the platform calls, which the service checks with its guard of outbound calls. */
export const ServiceUrl = (min = 0): PropertyDecorator =>
  combine(BoundedText(2048, min), Keywords({ pattern: SERVICE_URL_PATTERN.source }));

/** String of `min` to `max` characters. */
export const BoundedText = (max: number, min = 0): PropertyDecorator =>
  combine(
    IsString({ message: 'must be a string' }),
    min === 0
      ? MaxLength(max, { message: `must have at most ${max} characters` })
      : Length(min, max, { message: `must have ${min} to ${max} characters` }),
  );

/** A custom rule: `check` returns a message or undefined. Used where class-validator has no fitting decorator. */
export const Rule = (name: string, check: (value: unknown, object: object) => string | undefined): PropertyDecorator =>
  ownRule({
    name,
    validator: {
      validate: (value, args) => check(value, args?.object ?? {}) === undefined,
      defaultMessage: (args) => check(args?.value, args?.object ?? {}) ?? NO_MESSAGE,
    },
  });

/** A date or a date with time: `Date.parse` reads neither the week dates nor the ordinal dates of ISO 8601. */
export const Time = (): PropertyDecorator => {
  const message = 'must be an ISO 8601 date or time';
  return combine(
    IsISO8601({ strict: true }, { message }),
    MaxLength(64, { message }),
    Rule('readableTime', (value) => (Number.isNaN(Date.parse(String(value))) ? message : undefined)),
  );
};
