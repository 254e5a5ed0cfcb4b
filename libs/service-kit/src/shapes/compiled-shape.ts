import { getMetadataStorage, type ValidatorConstraintInterface } from 'class-validator';
import {
  adviceOnMissing,
  locatedJsonFault,
  nestedTypeOf,
  normalizerOf,
  rulesOf,
  type DeclaredRule,
  type DtoClass,
  type JsonBounds,
} from '@attestry/contracts';
import type { Check, CompiledMember, CompiledShape, Maximum } from './check-members.js';
import { maxLengthOf, missingMaxima, unknownPartOf } from './declared-maxima.js';

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

/** The wording is that of class-validator: the declared message or the rule's own, with its tokens replaced. */
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
