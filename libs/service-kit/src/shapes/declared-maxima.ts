// Declarations that are refused at startup: rules that may not take linear time, and members without a maximum (ADR 0040).
import { getMetadataStorage } from 'class-validator';
import { isOwnRule, type DeclaredRule, type DtoClass } from '@attestry/contracts';

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

/** Why a rule cannot be compiled. */
export const unknownPartOf = (rule: DeclaredRule): string | undefined => {
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

/** Declarations that a member lacks beside its rules, so that its values are bounded. */
export const missingMaxima = (
  rules: readonly DeclaredRule[],
  nested: DtoClass | undefined,
  isList: boolean,
): string[] => {
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

export const maxLengthOf = ({ name, constraints = [] }: DeclaredRule): number | undefined => {
  const length = name === 'maxLength' ? constraints[0] : name === 'isLength' ? constraints[1] : undefined;
  return typeof length === 'number' ? length : undefined;
};
