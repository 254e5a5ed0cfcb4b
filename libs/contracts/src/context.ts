import type { Access, ContextTraits } from './operation.js';

/** The tenant a request is for, from the gateway's tenant directory. */
export interface TenantContext {
  id: string;
  /** Canonical host with port, for example `acme.localhost:8080`. */
  host: string;
  /** `<PUBLIC_SCHEME>://<host>`: base address and issuer identifier. */
  baseUrl: string;
}

/** Sent without credentials, or with credentials that the operation itself reads. */
export interface PublicCaller {
  kind: 'public';
}
/** A client of the tenant, with one of the roles that the operation requires. */
export interface ClientCaller {
  kind: 'client';
  clientId: string;
}
/** A machine client, or a person, on the management API. */
export type ManagementCaller = { kind: 'management'; clientId: string } | { kind: 'user'; userId: string };
/** Presents a code or token of a wallet, checked by the service. */
export interface HolderCaller {
  kind: 'holder';
}
/** A participant of the bus on its own behalf. */
export interface ServiceCaller {
  kind: 'service';
  service: string;
}
export type Caller = PublicCaller | ClientCaller | ManagementCaller | HolderCaller | ServiceCaller;

/** The same for every retry of a call under one idempotency key. */
export interface Attempt {
  /** Correlation id of all events it causes. */
  id: string;
  /** RFC 3339 time of the first call. */
  beganAt: string;
  /** An earlier run ended without a recorded outcome: its events may be stored. */
  resumed: boolean;
  /** A deterministic stream of bytes for that name: the same in every run of this call, different for every other call. */
  bytes(name: string): (length: number) => Buffer;
}

/** What every operation has beside its request. */
export interface CallContext {
  /** 22 characters base62; in `x-request-id` and on every event. */
  requestId: string;
  /** Name of the operation that was called over HTTP, or of the reaction: calls between services keep it. */
  operation: string;
  /** Milliseconds since the epoch. */
  deadline: number;
  traceparent?: string;
}

/** On a host of a tenant. */
interface OnTenant {
  tenant: TenantContext;
}
/** For an operation with the flag `idempotent`. */
interface Repeatable {
  idempotencyKey?: string;
  /** Set by the service for a call with a key; never sent. */
  attempt?: Attempt;
}
/** For an operation with the flag `publicUrl`. */
interface Addressed {
  /** Scheme and canonical host the request was sent to: `tenant.baseUrl` on tenant hosts, another on their custom domains. */
  publicUrl: string;
}

export interface ClientContext extends CallContext, OnTenant {
  caller: ClientCaller;
}
export interface ManagementContext extends CallContext {
  caller: ManagementCaller;
}
export interface HolderContext extends CallContext, OnTenant {
  caller: HolderCaller;
}
/** Of a public operation on the hosts of tenants; those of the platform's own hosts have a {@link PlatformContext}. */
export interface PublicContext extends CallContext, OnTenant {
  caller: PublicCaller;
}
export interface PlatformContext extends CallContext {
  caller: PublicCaller;
}
/** Of an operation that services call for a tenant (`calledForTenant`); of others (`calledBy`), a {@link ServiceContext}. */
export interface TenantServiceContext extends CallContext, OnTenant {
  caller: ServiceCaller;
}
export interface ServiceContext extends CallContext {
  caller: ServiceCaller;
}

/** Any of them: for code that serves every operation. */
export interface OperationContext extends CallContext, Repeatable, Partial<OnTenant>, Partial<Addressed> {
  caller: Caller;
}

type ContextOfAccess<A extends Access, Tenant extends boolean> = A extends { kind: 'roles' }
  ? ClientContext
  : A extends { kind: 'management' }
    ? ManagementContext
    : A extends { kind: 'holder' }
      ? HolderContext
      : A extends { kind: 'public' }
        ? Tenant extends true
          ? PublicContext
          : PlatformContext
        : Tenant extends true
          ? TenantServiceContext
          : ServiceContext;

/** The context that the declaration of an operation gives it. */
export type ContextOf<O> =
  O extends ContextTraits<infer A, infer Tenant, infer Idempotent, infer Url>
    ? Access extends A
      ? OperationContext
      : ContextOfAccess<A, Tenant> &
          (true extends Idempotent ? Repeatable : unknown) &
          (true extends Url ? Addressed : unknown)
    : never;

/** `actor` of event metadata. */
export const actorOf = (caller: Caller): string => {
  switch (caller.kind) {
    case 'client':
    case 'management':
      return `client:${caller.clientId}`;
    case 'user':
      return `user:${caller.userId}`;
    case 'holder':
      return 'holder';
    case 'public':
      return 'public';
    case 'service':
      return `service:${caller.service}`;
  }
};
