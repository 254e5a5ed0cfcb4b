import type { BegunRecord, PendingRecord } from './operation-record.js';
import type { Access } from './operation.js';

/** The tenant a request is for, from the gateway's tenant directory. */
export interface TenantContext {
  id: string;
  /** Canonical host with port, for example `acme.localhost:8080`. */
  host: string;
  /** `<PUBLIC_SCHEME>://<host>`: base address and issuer identifier. */
  baseUrl: string;
  /** For people. Absent while the gateway or management runs a release that does not send it. */
  name?: string;
}

/** The caller, by the kind of access that an operation declares. */
interface CallerOfKind {
  /** Sent without credentials, or with credentials that the operation itself reads. */
  public: { kind: 'public' };
  /** A client of the tenant or one of its members, with one of the roles that the operation requires. */
  roles: { kind: 'client'; clientId: string } | { kind: 'user'; userId: string };
  /** A machine client, or a person, on the management API. */
  management: { kind: 'management'; clientId: string } | { kind: 'user'; userId: string };
  /** Presents a code or token of a wallet, checked by the service. */
  holder: { kind: 'holder' };
  /** A participant of the bus on its own behalf. */
  internal: { kind: 'service'; service: string };
}
export type PublicCaller = CallerOfKind['public'];
export type ClientCaller = CallerOfKind['roles'];
export type ManagementCaller = CallerOfKind['management'];
export type HolderCaller = CallerOfKind['holder'];
export type Caller = CallerOfKind[keyof CallerOfKind];

/** The same for every retry of a call under one idempotency key. */
export interface IdempotentCall {
  /** Correlation id of all events it causes. */
  id: string;
  /** RFC 3339 time of the first call. */
  beganAt: string;
  /** An earlier run ended without a recorded outcome: its events may be stored. */
  resumed: boolean;
  /** A deterministic stream of bytes for that name: the same in every run of this call, different for every other call. */
  bytes(name: string): (length: number) => Buffer;
}

/** Data of every operation beside its request. */
export interface CallContext {
  /** 22 characters base62; in `x-request-id` and on every event. */
  requestId: string;
  /** Name of the operation that was called over HTTP, or of the reaction: calls between services keep it. */
  operation: string;
  /** Milliseconds since the epoch. */
  deadline: number;
  traceparent?: string;
}

/** For an operation with the flag `idempotent`. */
interface Idempotent {
  idempotencyKey?: string;
  /** Set by the service for a call with a key; never sent. */
  idempotentCall?: IdempotentCall;
}
/** For an operation with the flag `publicUrl`. */
interface Addressed {
  /** Scheme and canonical host the request was sent to: `tenant.baseUrl` on tenant hosts, another on their custom domains. */
  publicUrl: string;
}

interface PlatformCall<Kind extends Access['kind']> extends CallContext {
  caller: CallerOfKind[Kind];
}
interface TenantCall<Kind extends Access['kind']> extends PlatformCall<Kind> {
  tenant: TenantContext;
}

export type ClientContext = TenantCall<'roles'>;
export type ManagementContext = PlatformCall<'management'>;
export type HolderContext = TenantCall<'holder'>;
/** A public operation on the hosts of tenants; on the platform's own hosts it is a {@link PlatformContext}. */
export type PublicContext = TenantCall<'public'>;
export type PlatformContext = PlatformCall<'public'>;
/** An operation that services call for a tenant (`calledForTenant`); with `calledBy` it is a {@link ServiceContext}. */
export type TenantServiceContext = TenantCall<'internal'>;
export type ServiceContext = PlatformCall<'internal'>;

/** For a command that is recorded. */
interface Recorded {
  /** Set by the gateway. */
  record?: BegunRecord;
  /** Set by the service; never sent. */
  pendingRecord?: PendingRecord;
}

/** Any of them: for code that serves every operation. */
export interface OperationContext extends CallContext, Idempotent, Partial<Addressed>, Recorded {
  caller: Caller;
  tenant?: TenantContext;
  /** For a public document: digests that the caller holds, with commas, or `none`; absent when it keeps no bytes. */
  document?: string;
}

/** For an operation with `userAccess`. */
interface CalledByUser {
  caller: Extract<ManagementCaller, { kind: 'user' }>;
}

/** The context that the declaration of an operation gives it. */
export type ContextOf<O> = O extends { access: infer A extends Access; forTenant: infer Tenant }
  ? Access extends A
    ? OperationContext
    : (Tenant extends true ? TenantCall<A['kind']> : PlatformCall<A['kind']>) &
        (A extends { usersOnly: true } ? CalledByUser : unknown) &
        (O extends { idempotent: true } ? Idempotent : unknown) &
        (O extends { publicUrl: true } ? Addressed : unknown)
  : never;

/** The caller as operation records name it. */
export const actorIds = (caller: Caller): { clientId?: string; managementUserId?: string } => {
  if (caller.kind === 'client' || caller.kind === 'management') return { clientId: caller.clientId };
  return caller.kind === 'user' ? { managementUserId: caller.userId } : {};
};

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
