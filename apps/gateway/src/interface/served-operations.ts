/** The operations the gateway routes and tells of: the registry, or a test's own. */
export const SERVED_OPERATIONS = Symbol('SERVED_OPERATIONS');
