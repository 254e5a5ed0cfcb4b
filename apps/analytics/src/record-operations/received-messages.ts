import {
  BUS_PARTICIPANTS,
  recordSubject,
  type BusParticipant,
  type OperationRecordMessage,
  type OperationStartMessage,
  type RecorderMessage,
} from '@attestry/contracts';
import type { FeedMessage } from '@attestry/messaging';
import { faultsOf } from './message-shapes.js';

/** A message about operations or their recorders, by its kind. `bytes`: its length as JSON. */
export type ReceivedMessage = { bytes: number } & (
  | { kind: 'record'; data: OperationRecordMessage }
  | { kind: 'started'; data: OperationStartMessage }
  | { kind: 'recorder'; data: RecorderMessage }
);

/** A message whose shape is not that of its kind. */
export interface MalformedMessage {
  kind: 'malformed';
  faults: string[];
}

const KINDS = ['record', 'started', 'recorder'] as const;

interface Declared {
  kind: (typeof KINDS)[number];
  participant: BusParticipant;
}

/** Publisher and kind of message, by the subject. */
const SUBJECTS: ReadonlyMap<string, Declared> = new Map(
  BUS_PARTICIPANTS.flatMap((participant) =>
    KINDS.map((kind): [string, Declared] => [recordSubject(kind, participant), { kind, participant }]),
  ),
);

/** `undefined` for other messages, and for what its publisher may not record: the gateway records every operation, a service its own. */
export const receivedMessage = ({ subject, data }: FeedMessage): ReceivedMessage | MalformedMessage | undefined => {
  const declared = SUBJECTS.get(subject);
  if (!declared) return undefined;
  const { kind, participant } = declared;
  const bytes = Buffer.byteLength(JSON.stringify(data) ?? '');
  const faults = faultsOf(kind, data, bytes);
  if (faults.length) return { kind: 'malformed', faults };
  const given = data as { operation?: string; participant?: string };
  const isOwn =
    kind === 'recorder'
      ? given.participant === participant
      : participant === 'gateway' || given.operation?.startsWith(`${participant}.`) === true;
  return isOwn ? ({ kind, data, bytes } as ReceivedMessage) : undefined;
};
