import { nestedTypeOf, rulesOf, type DtoClass, type Operation } from '@attestry/contracts';

const known = new Map<Operation, boolean>();

/** Whether a class has a member of any JSON (`BoundedJson`), at any depth. */
const isOpen = (type: DtoClass): boolean => {
  const rules = rulesOf(type);
  if (rules.some(({ name }) => name === 'json')) return true;
  return [...new Set(rules.map(({ propertyName }) => propertyName))].some((member) => {
    const nested = nestedTypeOf(type, member);
    return nested !== undefined && isOpen(nested);
  });
};

/**
 * Whether the body of an operation of the tenant API has values that are stored, signed or sent as they are: claims of offers and users, default
 * values of mappings and of parameters of claims sources, parameters of requests to a provider. Derived from the contract, once for each operation.
 */
export const hasOpenValues = (operation: Operation): boolean => {
  let open = known.get(operation);
  if (open === undefined) {
    open = operation.access.kind === 'roles' && operation.body !== undefined && isOpen(operation.body as DtoClass);
    known.set(operation, open);
  }
  return open;
};
