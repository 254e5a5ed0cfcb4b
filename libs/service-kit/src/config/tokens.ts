/** Injection tokens of providers without a class. */
export const CLOCK = Symbol('Clock');
export const IDS = Symbol('Ids');
export const LOGGER = Symbol('Logger');
export const CHECKPOINTS = Symbol('Checkpoints');
/** The event store of operation events with its leases and checkpoints, separate from that of domain events (ADR 0073). */
export const OPERATION_EVENT_STORE = Symbol('OperationEventStore');
/** Read models over domain and operation events (ADR 0073). */
export const OPERATION_READ_MODELS = Symbol('OperationReadModels');
