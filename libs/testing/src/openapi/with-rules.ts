import { getMetadataStorage } from 'class-validator';
import {
  keywordsOf as declaredKeywordsOf,
  NO_MESSAGE,
  rulesOf,
  UUID_PATTERN,
  type DeclaredRule,
  type DtoClass,
  type JsonBounds,
  type JsonSchema,
} from '@attestry/contracts';

/** DTO classes with rules, by name, nested classes included. */
export const classesWithRules = (): Map<string, DtoClass> => {
  const { validationMetadatas } = getMetadataStorage() as unknown as { validationMetadatas: Map<DtoClass, unknown> };
  return new Map([...validationMetadatas.keys()].map((dto) => [dto.name, dto]));
};

/**
 * The shape derived from the TypeScript type, with the keywords of its class's decorators. A rule without a keyword is added
 * to the member's description.
 */
export const withRules = (shape: JsonSchema, dto: DtoClass): JsonSchema => {
  const rules = rulesOf(dto);
  const properties = Object.fromEntries(
    Object.entries(shape.properties ?? {}).map(([name, member]) => [
      name,
      withKeywords(
        rules.filter(({ propertyName }) => propertyName === name).reduce(withRule, member),
        declaredKeywordsOf(dto, name),
      ),
    ]),
  );
  const optional = new Set(
    rules.filter(({ type }) => type === 'conditionalValidation').map(({ propertyName }) => propertyName),
  );
  const { required: declared, ...rest } = shape;
  const required = declared?.filter((name) => !optional.has(name));
  return { ...rest, ...(shape.properties && { properties }), ...(required?.length && { required }) };
};

/** Keywords of `items` are added to the entries of a list. */
const withKeywords = (member: JsonSchema, { items, ...keywords }: JsonSchema = {}): JsonSchema => ({
  ...member,
  ...keywords,
  ...(items && { items: { ...member.items, ...items } }),
});

const NULL: JsonSchema = { type: 'null' };

/** A member that may be null has the rules of its other type. */
const withRule = (member: JsonSchema, rule: DeclaredRule): JsonSchema => {
  const { type, anyOf, description } = member;
  if (Array.isArray(type) && type.length === 2 && type[1] === 'null') {
    const ruled = withRuleOfType({ ...member, type: type[0]! }, rule);
    return { ...ruled, type: [ruled.type as string, 'null'] };
  }
  if (anyOf?.length === 2 && anyOf[1]!.type === 'null') {
    const { description: told, ...ruled } = withRuleOfType({ ...anyOf[0]!, ...(description && { description }) }, rule);
    return { ...member, anyOf: [ruled, NULL], ...(told !== undefined && { description: told }) };
  }
  return withRuleOfType(member, rule);
};

const withRuleOfType = (member: JsonSchema, rule: DeclaredRule): JsonSchema => {
  if (rule.type !== 'customValidation') return member;
  const keywords = keywordsOf(member, rule);
  if (keywords === undefined) return { ...member, description: sentence(member.description, messageOf(rule)) };
  // A reference already describes the type.
  if (!rule.each) return member.$ref ? member : { ...member, ...keywords };
  return member.items && !member.items.$ref ? { ...member, items: { ...member.items, ...keywords } } : member;
};

/** Depth, number of values and texts inside a value have no keyword. */
const jsonKeywords = (member: JsonSchema, { entries, name, text, depth, values }: JsonBounds): JsonSchema => {
  const inside = `At most ${depth} levels, ${values} values in total and ${text} characters in each string.`;
  const description = member.description ? `${member.description} ${inside}` : inside;
  if (member.type === 'string') return { maxLength: text };
  if (member.type === 'array') return { maxItems: Math.min(entries, member.maxItems ?? entries), description };
  return { maxProperties: entries, propertyNames: { maxLength: name }, description };
};

/** Keywords of a rule, `undefined` when there is none for it. */
const keywordsOf = (member: JsonSchema, { name, constraints = [] }: DeclaredRule): JsonSchema | undefined => {
  const [first, second] = constraints as [never, never];
  switch (name) {
    // Already expressed by the type.
    case 'isString':
    case 'isBoolean':
    case 'isArray':
    case 'isRecord':
    case 'roles':
      return {};
    case 'isInt':
      return { type: 'integer' };
    case 'isIn': {
      // `boolean` and `null` are types already: generators refuse them in an enum.
      const values = (first as unknown[]).filter((value) => value !== null && typeof value !== 'boolean');
      return values.length > 0 ? { enum: values } : {};
    }
    case 'min':
      return { minimum: first };
    case 'max':
      return { maximum: first };
    case 'maxLength':
      return { maxLength: first };
    case 'minLength':
      return { minLength: first };
    case 'isLength':
      return { minLength: first, ...(second !== undefined && { maxLength: second }) };
    case 'json':
      return jsonKeywords(member, first);
    case 'arrayMaxSize':
      return { maxItems: first };
    case 'arrayMinSize':
      return { minItems: first };
    case 'arrayNotEmpty':
      return { minItems: 1 };
    case 'arrayUnique':
      return { uniqueItems: true };
    case 'isIso8601':
      return { format: 'date-time' };
    case 'matches': {
      const pattern = first as RegExp;
      if (pattern.source === UUID_PATTERN.source) return { format: 'uuid' };
      return pattern.flags ? undefined : { pattern: pattern.source };
    }
    default:
      return undefined;
  }
};

const messageOf = ({ message, constraintCls }: DeclaredRule): string => {
  if (typeof message === 'string') return message;
  const [custom] = getMetadataStorage().getTargetValidatorConstraints(constraintCls);
  const text = custom?.instance.defaultMessage?.({ value: undefined, object: {} } as never);
  return typeof text === 'string' && text !== NO_MESSAGE ? text : '';
};

/** `Text.` and `must be short` make `Text. Must be short.` */
const sentence = (text: string | undefined, message: string): string | undefined => {
  if (!message) return text;
  const rule = `${message[0]!.toUpperCase()}${message.slice(1)}.`;
  if (text?.includes(rule)) return text;
  return text ? `${text.replace(/[^.]$/, '$&.')} ${rule}` : rule;
};
