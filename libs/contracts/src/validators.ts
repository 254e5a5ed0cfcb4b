import { Transform } from 'class-transformer';
import {
  IsArray,
  IsEmail,
  IsString,
  Length,
  Matches,
  ValidateBy,
  type ValidationOptions,
  ArrayNotEmpty,
  ArrayUnique,
} from 'class-validator';
import { CLIENT_ID_PATTERN, isUuid, UUID_PATTERN } from './identifiers.js';
import { ROLES } from './roles.js';

/** Property decorators shared by the DTOs, with the messages the specifications show. */
const all =
  (...decorators: PropertyDecorator[]): PropertyDecorator =>
  (target, key) => {
    for (const decorate of decorators) decorate(target, key);
  };

/** A rule on text; what is no text is another decorator's fault to tell. */
const Text = (name: string, message: string, isValid: (text: string) => boolean): PropertyDecorator =>
  ValidateBy({
    name,
    validator: { validate: (value) => typeof value !== 'string' || isValid(value), defaultMessage: () => message },
  });

/** String trimmed to 1..max characters, none of which is a control character or half of a surrogate pair. */
export const Name = (max = 255): PropertyDecorator =>
  all(
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value)),
    IsString({ message: 'must be a string' }),
    Length(1, max, { message: `must have 1 to ${max} characters` }),
    Text('noControlCharacters', 'must not contain control characters', (text) => !/\p{Cc}/u.test(text)),
    Text('wellFormed', 'must be well-formed Unicode', (text) => text.isWellFormed()),
  );

/** A UUID, in lower case as all ids are stored (RFC 9562 §4: either case is read). */
export const Uuid = (): PropertyDecorator =>
  all(
    Transform(({ value }: { value: unknown }) => (isUuid(value) ? value.toLowerCase() : value)),
    IsString({ message: 'must be a string' }),
    Matches(UUID_PATTERN, { message: 'Invalid value' }),
  );

export const ClientId = (): PropertyDecorator =>
  all(IsString({ message: 'must be a string' }), Matches(CLIENT_ID_PATTERN, { message: 'Invalid value' }));

/** An e-mail address, in lower case as it is stored and compared; at most 254 characters (RFC 5321 §4.5.3.1.3). */
export const Email = (): PropertyDecorator =>
  all(
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim().toLowerCase() : value)),
    IsString({ message: 'must be a string' }),
    IsEmail({}, { message: 'must be an e-mail address' }),
    Length(1, 254, { message: 'must have 1 to 254 characters' }),
  );

/** Non-empty array of unique, known roles. */
export const Roles = (): PropertyDecorator =>
  all(
    IsArray({ message: 'must be an array' }),
    ArrayNotEmpty({ message: 'must not be empty' }),
    ArrayUnique({ message: 'must not repeat a role' }),
    ValidateBy({
      name: 'roles',
      validator: {
        validate: (value: unknown) =>
          Array.isArray(value) && value.every((role) => (ROLES as readonly unknown[]).includes(role)),
        defaultMessage: () => `must be known roles: ${ROLES.join(', ')}`,
      },
    }),
  );

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A JSON object. */
export const IsRecord = (options?: ValidationOptions): PropertyDecorator =>
  ValidateBy(
    { name: 'isRecord', validator: { validate: isRecord, defaultMessage: () => 'must be an object' } },
    options,
  );

/**
 * A rule of our own: `check` returns a message or undefined. Used where class-validator has no fitting decorator.
 */
export const Rule = (name: string, check: (value: unknown, object: object) => string | undefined): PropertyDecorator =>
  ValidateBy({
    name,
    validator: {
      validate: (value, args) => check(value, args?.object ?? {}) === undefined,
      defaultMessage: (args) => check(args?.value, args?.object ?? {}) ?? 'Invalid value',
    },
  });
