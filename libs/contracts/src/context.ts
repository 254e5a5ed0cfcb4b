import type { Role } from './roles.js';

/** The tenant a request is for, from the gateway's tenant directory. */
export interface TenantContext {
  id: string;
  environmentId: string;
  /** Canonical host with port, for example `acme.localhost:8080`. */
  host: string;
  /** `<PUBLIC_SCHEME>://<host>`: base address and issuer identifier. */
  baseUrl: string;
}

export type Caller =
  | { kind: 'client'; clientId: string; roles: Role[] }
  /** A machine client of the management API. */
  | { kind: 'management'; clientId: string }
  /** A person on the management API. */
  | { kind: 'user'; userId: string }
  /** Presents a code or token of a wallet, checked by the service. */
  | { kind: 'holder' }
  | { kind: 'public' }
  | { kind: 'service'; service: string };

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

/** Context of an operation beside its request; sent in message headers. */
export interface OperationContext {
  /** Absent on the management and authorization hosts. */
  tenant?: TenantContext;
  caller: Caller;
  /** 22 characters base62; in `x-request-id` and on every event. */
  requestId: string;
  /** Name of the operation. */
  operation: string;
  /** Milliseconds since the epoch. */
  deadline: number;
  traceparent?: string;
  /** `Idempotency-Key`, on operations that take it. */
  idempotencyKey?: string;
  /** Set by the service for a call with a key; never sent. */
  attempt?: Attempt;
  /** Scheme and canonical host the request was sent to: `tenant.baseUrl` on tenant hosts, another on their custom domains. */
  publicUrl: string;
}

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
