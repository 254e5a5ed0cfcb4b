/** Injection tokens for what has no class of its own. */
export const CLOCK = Symbol('Clock');
export const IDS = Symbol('Ids');
/** The event store of operation events, apart from the domain's (decision 11). */
export const OPERATION_EVENT_STORE = Symbol('OperationEventStore');
