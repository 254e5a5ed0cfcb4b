import { Inject, Injectable } from '@nestjs/common';
import {
  AppError,
  HTTP_STATUS,
  type Operation,
  type OperationContext,
  type OperationRecordMessage,
  type TenantContext,
} from '@attestry/contracts';
import type { Clock, EventContext } from '@attestry/event-store';
import {
  CallRecord,
  CLOCK,
  eventContext,
  LOGGER,
  OperationRecorder,
  requestFields,
  toAppError,
  type Logger,
  type RepeatedCall,
} from '@attestry/service-kit';
import type { AcceptedRequest } from './accepted-request.js';
import type { SessionFacts } from '../../sessions/issuance-session/issuance-session.state.js';
import type { RegisteredWallet } from '../registered-wallets/wallets.events.js';

type WalletContext = OperationContext & { tenant: TenantContext };

/** The record of a wallet operation. */
export interface WalletRecord {
  /** Metadata of the events that the call appends; the first of them holds the record. */
  readonly events: EventContext;
  /** The presented value named this session: from now on the call is recorded. */
  nameSession(session: { id: string } & Partial<Pick<SessionFacts, 'origin' | 'userId'>>): void;
  /** The registered wallet that the request names: from now on the call is recorded. */
  nameWallet(wallet: Pick<RegisteredWallet, 'id'>): void;
  /** The client of an authorization request, which proves nothing: from now on the call is recorded. */
  nameClient(client: Pick<AcceptedRequest, 'clientId' | 'clientKind'>): void;
  /** The caller has proved who it is: successes are recorded one by one. */
  proveCaller(): void;
  /** Ids for the metadata of the record, known before the append. */
  addMetadata(metadata: Record<string, unknown>): void;
  /** Refusal by the decided event, if any; a decision may be made several times. */
  setRefusal(refusal: AppError | undefined): void;
  /** START, once the caller has proved who it is, for effects outside the append: acknowledged before the first of them. @throws AppError 503 */
  start(): Promise<void>;
}

const repeatedCallOf = (
  { object, outcome }: OperationRecordMessage,
  client: string | undefined,
  refusal: AppError | undefined,
): RepeatedCall => ({
  client: client ?? `${object?.type}:${object?.id}`,
  check: refusal ? (refusal.check ?? refusal.code) : outcome,
});

/** Records of the operations of wallets. */
@Injectable()
export class WalletRecords {
  constructor(
    private readonly recorder: OperationRecorder,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Runs a wallet operation and records it (ADR 0072): nothing without a known session or registered wallet; otherwise in the event that the call appends, or, where it
   * appends none, by a message. Many refusals by one check in a minute are one record, as are successes of callers who proved nothing (ADR 0098). Only the outcome of a call with START is acknowledged before the answer.
   */
  async record<T>(operation: Operation, context: WalletContext, run: (record: WalletRecord) => Promise<T>): Promise<T> {
    const record = new CallRecord(operation, context, { startedAt: this.clock.now().toISOString() });
    const metadata: Record<string, unknown> = {};
    let isNamed = false;
    let isStarted = false;
    let isProven = false;
    /** Client of a record without an object. */
    let client: string | undefined;
    const addMetadata = (more: Record<string, unknown>): void => {
      Object.assign(metadata, more);
      const { outcome: _, ...details } = record.details;
      record.details = { ...details, metadata: { ...metadata } };
    };
    const setRefusal = (refusal: AppError | undefined): void => {
      addMetadata({});
      if (!refusal) return;
      const error = { status: HTTP_STATUS[refusal.kind], code: refusal.code, message: refusal.message };
      const claim = refusal.claim !== undefined && { claim: refusal.claim };
      record.details = {
        ...record.details,
        outcome: 'FAIL',
        metadata: { ...metadata, ...claim, ...refusal.recorded, error },
      };
    };
    const wallet: WalletRecord = {
      events: { ...eventContext(context), record },
      nameSession: ({ id, origin, userId }) => {
        isNamed = true;
        isProven = true;
        record.details = { object: { type: 'session', id } };
        const offerId = origin?.kind === 'preAuthorizedOffer' ? id : undefined;
        addMetadata({ sessionId: id, ...(offerId && { offerId }), ...(userId && { userId }) });
      },
      nameWallet: ({ id }) => {
        isNamed = true;
        record.details = { object: { type: 'wallet', id } };
        addMetadata({ walletId: id });
      },
      nameClient: ({ clientId, clientKind }) => {
        isNamed = true;
        // Any text can be the id of a wallet that is not registered.
        client = clientKind === 'registered' ? `client:${clientId}` : clientKind;
      },
      proveCaller: () => {
        isProven = true;
      },
      addMetadata,
      setRefusal,
      start: async () => {
        isNamed = true;
        try {
          await this.recorder.start(record.startMessage());
        } catch (cause) {
          throw new AppError('unavailable', 'Service temporarily unavailable', { cause });
        }
        isStarted = true;
      },
    };
    const write = async (refusal?: AppError): Promise<void> => {
      const message = record.messageOf(this.clock.now().toISOString());
      const { deadline } = context;
      try {
        if (isStarted) await this.recorder.write(message, deadline);
        else if (refusal || !isProven)
          await this.recorder.addRepeatable(message, repeatedCallOf(message, client, refusal), deadline);
        else await this.recorder.add(message, deadline);
      } catch (error) {
        this.logger.error({ ...requestFields(context), error: String(error) }, 'operation event not recorded');
      }
    };
    try {
      const answer = await run(wallet);
      if (isNamed && !record.isStored) await write();
      return answer;
    } catch (error) {
      const refusal = error instanceof AppError ? error : toAppError(error, context, this.logger);
      setRefusal(refusal);
      if (isNamed && !record.isStored) await write(refusal);
      throw refusal;
    }
  }
}
