import { DiscoveryService } from '@nestjs/core';
import type { ContextOf, HttpAnswer, Operation as AnyOperation, OperationRequest } from '@attestry/contracts';

/** The request that a service receives: `params`, `query` and `body` as declared. */
export type RequestOf<O> =
  O extends AnyOperation<infer Body, infer Params, infer Query, infer _Response>
    ? OperationRequest<Body, Params, Query>
    : never;
export type ResponseOf<O> = O extends AnyOperation<infer _B, infer _P, infer _Q, infer Response> ? Response : never;

/**
 * The handler of an operation. Its members are not methods in this type: those would accept a handler for the context of another kind of
 * access.
 */
export interface UseCase<O = AnyOperation> {
  execute: (request: RequestOf<O>, context: ContextOf<O>) => Promise<ResponseOf<O> | HttpAnswer>;
  /** For an idempotent operation: throws for a caller that may no longer receive the first result. */
  checkRetry?: ((request: RequestOf<O>, context: ContextOf<O>) => Promise<void>) | undefined;
}

export const OperationsOfClass = DiscoveryService.createDecorator<readonly AnyOperation[]>();

/** The class handles these operations. `discoverUseCases` finds it among the providers of the service that declares them. */
export const Operation =
  <O extends readonly AnyOperation[]>(...operations: O) =>
  (useCase: new (...dependencies: never[]) => UseCase<O[number]>): void => {
    OperationsOfClass(operations)(useCase);
  };
