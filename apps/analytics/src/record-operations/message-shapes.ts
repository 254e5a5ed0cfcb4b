import {
  BoundedJson,
  BoundedText,
  BUS_PARTICIPANTS,
  IsRecord,
  MAX_RECORD_BYTES,
  MAX_REQUEST_DATA,
  Nested,
  Optional,
  Rule,
  type DtoClass,
} from '@attestry/contracts';
import { checkShape } from '@attestry/service-kit';
import { IsIn, IsInt } from 'class-validator';

/** Longest id in a path: that of a refused call is recorded as it was sent. */
const MAX_ID = 16_384;

const together =
  (...decorators: PropertyDecorator[]): PropertyDecorator =>
  (target, key) => {
    for (const decorate of decorators) decorate(target, key);
  };
const matching = (name: string, isValid: (text: string) => boolean): PropertyDecorator =>
  Rule(name, (value) => (typeof value === 'string' && isValid(value) ? undefined : `must be a ${name}`));

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const Time = () =>
  together(
    BoundedText(24),
    matching('time', (text) => TIME.test(text) && !Number.isNaN(Date.parse(text))),
  );
/** Part of the name of a stream. */
const TenantId = () =>
  together(
    BoundedText(64),
    matching('tenant id', (text) => /^[\w-]+$/.test(text)),
  );
const Metadata = () =>
  together(IsRecord(), BoundedJson({ entries: 1000, name: MAX_ID, text: MAX_RECORD_BYTES, values: 20_000 }));

class ObjectShape {
  @BoundedText(100, 1) type: string;
  @Optional() @BoundedText(MAX_ID) id?: string;
}

class CallShape {
  @TenantId() tenantId: string;
  @BoundedText(200, 1) requestId: string;
  @BoundedText(200, 1) operation: string;
  @BoundedText(200, 1) prefix: string;
  @BoundedText(200, 1) category: string;
  @Optional() @BoundedText(200) clientId?: string;
  @Optional() @BoundedText(200) managementUserId?: string;
}

class StartedShape extends CallShape {
  @Time() startedAt: string;
  @Optional() @Metadata() start?: object;
  @Optional() @BoundedText(MAX_REQUEST_DATA) requestData?: string;
  @Optional() @Nested(ObjectShape) object?: ObjectShape;
  @Optional() @IsIn([true]) isManagement?: true;
  @Optional() @TenantId() about?: string;
}

class StartShape extends StartedShape {
  @IsInt() deadline: number;
}

class RecordShape extends StartedShape {
  @Time() endedAt: string;
  @IsIn(['SUCCESS', 'FAIL']) outcome: string;
  @Optional() @Metadata() metadata?: object;
  @Optional() @BoundedText(MAX_REQUEST_DATA) data?: string;
}

class RecorderShape {
  @BoundedText(64, 1) instance: string;
  @IsIn(BUS_PARTICIPANTS) participant: string;
  @IsIn(['started', 'alive', 'closed']) state: string;
  @Time() at: string;
}

const SHAPES = {
  record: RecordShape,
  started: StartShape,
  recorder: RecorderShape,
} satisfies Record<string, DtoClass<object>>;

/** Faults of a message's data, without its values. */
export const faultsOf = (kind: keyof typeof SHAPES, data: unknown, bytes: number): string[] => {
  if (bytes > MAX_RECORD_BYTES) return [`must have at most ${MAX_RECORD_BYTES} bytes`];
  return checkShape<object>(SHAPES[kind], data, 'body').details.map(({ param, msg }) => `${param} ${msg}`);
};
