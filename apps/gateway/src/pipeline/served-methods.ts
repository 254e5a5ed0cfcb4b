/** Methods that operations may have. */
export const OPERATION_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'] as const;
/** Methods that are served at all: those of operations, and OPTIONS of every path that has one. */
export const SERVED_METHODS: readonly string[] = [...OPERATION_METHODS, 'OPTIONS'];
