/** Methods that operations may have. */
export const OPERATION_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'] as const;
/** What is served at all: methods of operations, and OPTIONS of every path that has one. */
export const SERVED_METHODS: readonly string[] = [...OPERATION_METHODS, 'OPTIONS'];
