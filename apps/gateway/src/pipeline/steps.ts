import { isRecordedByGateway, issueToken, listTenantEvents, type Operation } from '@attestry/contracts';
import { authorizeMembers } from './authorize-members.js';
import { authorize } from './authorize.js';
import { beginRecord } from './begin-record.js';
import { callDocument } from './call-document.js';
import { callList } from './call-list.js';
import { callService } from './call-service.js';
import { checkHostHeader } from './check-host-header.js';
import { checkShape } from './check-shape.js';
import { checkTarget } from './check-target.js';
import { countTokenCall } from './count-token-call.js';
import { findRoute } from './find-route.js';
import { flushRecords } from './flush-records.js';
import { identifyCaller } from './identify-caller.js';
import { identifySubject } from './identify-subject.js';
import { issueTokenCall } from './issue-token-call.js';
import { limitAddress } from './limit-address.js';
import { limitCaller } from './limit-caller.js';
import { limitInFlight } from './limit-in-flight.js';
import { limitTokenCalls } from './limit-token-calls.js';
import { limitTokenFailures } from './limit-token-failures.js';
import { openContext } from './open-context.js';
import { readsTrail, recordRead } from './record-access.js';
import { recordSuccess } from './record-outcome.js';
import { renderDocument } from './render-document.js';
import { renderResult } from './render-result.js';
import { reserveCall } from './reserve-call.js';
import { resolveHost } from './resolve-host.js';
import { startSpan } from './start-span.js';
import type { Step, StepOfOperation } from './step.js';
import { streamList } from './stream-list.js';

const isTokenCall = ({ rate }: Operation): boolean => rate === 'client-token';
const issuesTokens = ({ name }: Operation): boolean => name === issueToken.name;
const isLimitedByAddress = ({ rate }: Operation): boolean => rate === 'public' || rate === 'wallet' || rate === 'push';
const isLimitedByCaller = ({ rate }: Operation): boolean => rate === 'api';
const hasCredentials = ({ access: { kind } }: Operation): boolean => kind !== 'public' && kind !== 'holder';
const hasRoles = ({ access }: Operation): boolean => access.kind === 'roles';
const hasMemberAccess = ({ memberAccess }: Operation): boolean => memberAccess !== undefined;
const isStream = ({ http }: Operation): boolean => http!.stream === true;
const isDocument = ({ http }: Operation): boolean => http!.document === true;
const isCall = (operation: Operation): boolean => !isStream(operation);
const isPlainCall = (operation: Operation): boolean => isCall(operation) && !isDocument(operation);
const isList = (operation: Operation): boolean => hasCredentials(operation) && Array.isArray(operation.response);
const isListCall = (operation: Operation): boolean => isPlainCall(operation) && isList(operation);
const isOtherCall = (operation: Operation): boolean =>
  isPlainCall(operation) && !isList(operation) && !issuesTokens(operation);
const isRecordedCall = (operation: Operation): boolean => isCall(operation) && isRecordedByGateway(operation);
const readsRecords = (operation: Operation): boolean =>
  operation.service === 'analytics' || operation.name === listTenantEvents.name;

/**
 * Steps of every request, in this order. Plugins answer before the group that names them; {@link stepsOf} leaves out the steps that an
 * operation does not need.
 */
export const STEPS = {
  /** Before it: `plugins/health.ts`. */
  host: [
    limitInFlight, // requests, and bytes of their bodies, that one address may have in flight
    checkHostHeader, // one valid host, the same one wherever the request names it
    resolveHost, // Host header → tenant, management, authorization, contexts, custom domain
  ],
  /** Before it: `plugins/interface-documents.ts`. */
  target: [
    checkTarget, // a method that is served, a host that is served, a path in UTF-8
  ],
  /** Before it: `plugins/sign-in-pages.ts` and `plugins/cors-preflight.ts`. */
  route: [
    findRoute, // kind of host, method and path → plan
  ],
  /** Steps of the operation before the body is read. */
  beforeBody: [
    { step: startSpan }, // the operation is known to metrics and traces
    { step: limitTokenFailures, when: isTokenCall }, // failed token calls of the address
    { step: limitAddress, when: isLimitedByAddress }, // public and wallet calls of the address
    { step: identifyCaller, when: hasCredentials }, // access token → client or user
    { step: limitCaller, when: isLimitedByCaller }, // calls of the client or user
    { step: reserveCall, when: hasCredentials }, // calls that the tenant may have in flight
    { step: authorize, when: hasRoles }, // a role that the operation requires
    { step: openContext }, // context of the operation
  ],
  // Here Fastify reads the body, up to the limit of the plan.
  /** Steps of the operation after the body was read. */
  afterBody: [
    { step: limitTokenCalls, when: isTokenCall }, // token calls of the client id in the body
    { step: identifySubject, when: issuesTokens }, // subject token of a token exchange → person
    { step: beginRecord, when: isRecordedCall }, // its record goes with the call; FAIL is recorded where a later step throws
    { step: checkShape, when: isCall }, // body and query → request in the declared shape
    { step: authorizeMembers, when: hasMemberAccess }, // a role for members that need another permission
    { step: flushRecords, when: readsRecords }, // the list has the calls before it
    { step: callService, when: isOtherCall }, // request → result of the service
    { step: issueTokenCall, when: issuesTokens }, // the same, for a client or for the person of a token exchange
    { step: callList, when: isListCall }, // the same, when it is the turn of the tenant's list
    { step: callDocument, when: isDocument }, // request → public document, whose bytes are kept
    { step: recordSuccess, when: isRecordedCall }, // SUCCESS of a query, and what completes the record of a command
    { step: recordRead, when: readsTrail }, // the trail has its readers
    { step: countTokenCall, when: isTokenCall }, // only calls with the right secret count for the client id
    { step: renderDocument, when: isDocument }, // document → encoding, ETag, 304
    { step: renderResult, when: isPlainCall }, // result → status, headers, body
    { step: streamList, when: isStream }, // list → lines of JSON, page after page
  ],
} satisfies Record<'host' | 'target' | 'route', Step[]> & Record<'beforeBody' | 'afterBody', StepOfOperation[]>;

/** Made at boot, for each operation. */
export const stepsOf = (operation: Operation): Readonly<Record<'beforeBody' | 'afterBody', readonly Step[]>> => {
  const needed = (steps: readonly StepOfOperation[]) =>
    Object.freeze(steps.filter(({ when }) => when?.(operation) ?? true).map(({ step }) => step));
  return Object.freeze({ beforeBody: needed(STEPS.beforeBody), afterBody: needed(STEPS.afterBody) });
};
