import 'reflect-metadata';
import { invalid, type DtoClass, type ErrorDetail, type Operation, type OperationRequest } from '@attestry/contracts';
import { shapeOf } from './compiled-shape.js';
import { freezeDeep } from './frozen-data.js';
import { checkMembers, readMembers } from './check-members.js';
import { readOnlyNamesOf, unknownMembers } from './unknown-members.js';

const PARTS = ['params', 'query', 'body'] as const;

/**
 * Compiles the shapes of operations at startup, not on the first request.
 * @throws Error that names each operation, DTO and member whose declaration cannot be compiled or has no maximum
 */
export const compileShapes = (operations: readonly Operation[]): void => {
  const faults = new Set<string>();
  for (const operation of operations)
    for (const part of PARTS) {
      const type = operation[part];
      if (!type) continue;
      try {
        shapeOf(type);
      } catch (error) {
        faults.add(`${operation.name}: ${(error as Error).message}`);
      }
    }
  if (faults.size) throw new Error([...faults].join('; '));
};

/** Checks one part of a request against its DTO; returns faults as error details, one per fault. */
export const checkShape = <T extends object>(
  type: DtoClass<T>,
  value: unknown,
  location: ErrorDetail['location'],
  secrets: readonly string[] = [],
): { value: T; details: ErrorDetail[] } => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { value: new type(), details: [{ msg: 'must be an object', param: location, location }] };
  const shape = shapeOf(type);
  const instance = readMembers(shape, value) as T;
  const details: ErrorDetail[] = [];
  checkMembers(shape, instance, { details, location, secrets });
  return { value: instance, details };
};

/**
 * Checks the shape of a whole request as its operation declares it. Unknown members are dropped, or refused where the request requires it;
 * the result is frozen.
 * @throws AppError 400 with a detail per fault, params before query before body
 */
export const checkRequest = (operation: Operation, request: OperationRequest): OperationRequest => {
  const details: ErrorDetail[] = [];
  const checked: OperationRequest = { params: {}, query: {}, body: {} };
  if (request.raw) checked.raw = request.raw;
  if (request.page) checked.page = request.page;
  for (const part of PARTS) {
    const type = operation[part];
    if (!type) continue;
    // `null` is a value, and no object.
    const given: unknown = request[part] === undefined ? {} : request[part];
    const result = checkShape(type as DtoClass<object>, given, part, operation.secrets);
    checked[part] = result.value;
    details.push(...result.details);
    if (request.strict && part !== 'params')
      details.push(
        ...unknownMembers(shapeOf(type), given, part, part === 'body' ? readOnlyNamesOf(operation) : undefined),
      );
  }
  if (details.length) throw invalid(...details);
  return freezeDeep(checked);
};
