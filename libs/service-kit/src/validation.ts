import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { invalid, type DtoClass, type ErrorDetail, type Operation, type OperationRequest } from '@attestry/contracts';

const OPTIONS = {
  whitelist: true,
  forbidUnknownValues: true,
  stopAtFirstError: true,
  validationError: { target: false },
} as const;

/** Longest rejected value that is echoed. */
const MAX_ECHO = 200;

const echo = (value: unknown): { value?: unknown } => {
  if (value === undefined) return {};
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text !== undefined && text.length <= MAX_ECHO ? { value } : {};
};

const flatten = (
  errors: readonly ValidationError[],
  location: ErrorDetail['location'],
  secrets: readonly string[],
  path = '',
): ErrorDetail[] =>
  errors.flatMap((error) => {
    const param = path ? `${path}.${error.property}` : error.property;
    const hidden = secrets.includes(param.split('.')[0]!);
    const own = Object.values(error.constraints ?? {}).map((msg): ErrorDetail => ({
      ...(hidden ? {} : echo(error.value)),
      msg: error.value === undefined ? 'is required' : msg,
      param,
      location,
    }));
    return [...own, ...flatten(error.children ?? [], location, secrets, param)];
  });

/** Parses and checks one part of a request against its DTO; faults come back as error details, one per fault. */
export const checkShape = <T extends object>(
  type: DtoClass<T>,
  value: unknown,
  location: ErrorDetail['location'],
  secrets: readonly string[] = [],
): { value: T; details: ErrorDetail[] } => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { value: new type(), details: [{ msg: 'must be an object', param: location, location }] };
  const instance = plainToInstance(type, value);
  return { value: instance, details: flatten(validateSync(instance, OPTIONS), location, secrets) };
};

/**
 * Checks the shape of a whole request as its operation declares it. Unknown members are dropped.
 * @throws AppError 400 with a detail per fault, params before query before body
 */
export const checkRequest = (operation: Operation, request: OperationRequest): OperationRequest => {
  const details: ErrorDetail[] = [];
  const checked: OperationRequest = { params: {}, query: {}, body: {} };
  if (request.raw) checked.raw = request.raw;
  if (request.page) checked.page = request.page;
  for (const part of ['params', 'query', 'body'] as const) {
    const type = operation[part];
    if (!type) continue;
    const result = checkShape(type as DtoClass<object>, request[part] ?? {}, part, operation.secrets);
    checked[part] = result.value;
    details.push(...result.details);
  }
  if (details.length) throw invalid(...details);
  return checked;
};
