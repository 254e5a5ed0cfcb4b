/** The operations that the gateway routes and documents: the registry, or those of a test. */
export const SERVED_OPERATIONS = Symbol('SERVED_OPERATIONS');
