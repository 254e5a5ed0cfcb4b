import type { Role } from './roles.js';

/** The tenant a request is for, as the gateway's directory knows it. */
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

/** What every operation knows beside its request; travels in message headers. */
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
  /** Scheme and canonical host the request came to: `tenant.baseUrl` on tenant hosts, another on their custom domains. */
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
