import { AsyncLocalStorage } from 'node:async_hooks';
import type { OperationContext } from '@attestry/contracts';

const storage = new AsyncLocalStorage<OperationContext>();

/** The context travels beside the call, so that no provider is request-scoped. */
export const runInContext = <T>(context: OperationContext, run: () => T): T => storage.run(context, run);
export const currentContext = (): OperationContext | undefined => storage.getStore();
