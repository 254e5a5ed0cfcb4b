import { createServer, type IncomingMessage, type Server } from 'node:http';

/** A span as received. */
export interface ReceivedSpan {
  /** Hexadecimal. */
  traceId: string;
  spanId: string;
  /** '' for a root. */
  parentSpanId: string;
  name: string;
  /** Number of the protocol: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  /** Nanoseconds since the epoch. */
  start: bigint;
  end: bigint;
  attributes: Record<string, string | number | boolean>;
  /** Name of the process: `service.name`. */
  service: string;
  isError: boolean;
}

interface Field {
  number: number;
  /** A varint or a fixed number. */
  value: bigint;
  /** Content of a string, of bytes or of a message. */
  bytes: Buffer;
}

const NOTHING = Buffer.alloc(0);

/** The fields of one message, in order (protobuf encoding: varint, I64, LEN and I32 records). */
const fieldsOf = (message: Buffer): Field[] => {
  const found: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const number = Number(tag >> 3n);
    const type = Number(tag & 7n);
    if (type === 0) found.push({ number, value: varint(), bytes: NOTHING });
    else if (type === 2) {
      const length = Number(varint());
      found.push({ number, value: 0n, bytes: message.subarray(at, at + length) });
      at += length;
    } else if (type === 1) {
      found.push({ number, value: message.readBigUInt64LE(at), bytes: message.subarray(at, at + 8) });
      at += 8;
    } else if (type === 5) {
      found.push({ number, value: BigInt(message.readUInt32LE(at)), bytes: NOTHING });
      at += 4;
    } else throw new Error(`wire type ${type}`);
  }
  return found;
};

const all = (message: Buffer, number: number): Buffer[] =>
  fieldsOf(message)
    .filter((field) => field.number === number)
    .map(({ bytes }) => bytes);

/** opentelemetry.proto.common.v1.KeyValue: key 1, value 2 of {string 1, bool 2, int 3, double 4}. */
const attributesOf = (keyValues: readonly Buffer[]): ReceivedSpan['attributes'] =>
  Object.fromEntries(
    keyValues.map((keyValue) => {
      const [value] = fieldsOf(all(keyValue, 2)[0] ?? NOTHING);
      const key = all(keyValue, 1)[0]!.toString('utf8');
      if (value?.number === 2) return [key, value.value === 1n];
      if (value?.number === 3) return [key, Number(BigInt.asIntN(64, value.value))];
      if (value?.number === 4) return [key, value.bytes.readDoubleLE(0)];
      return [key, value?.bytes.toString('utf8') ?? ''];
    }),
  );

/** opentelemetry.proto.trace.v1.Span. */
const spanOf = (message: Buffer, service: string): ReceivedSpan => {
  const first = new Map<number, Field>();
  for (const field of fieldsOf(message)) if (!first.has(field.number)) first.set(field.number, field);
  const hex = (number: number) => first.get(number)?.bytes.toString('hex') ?? '';
  const status = fieldsOf(first.get(15)?.bytes ?? NOTHING).find(({ number }) => number === 3);
  return {
    traceId: hex(1),
    spanId: hex(2),
    parentSpanId: hex(4),
    name: first.get(5)?.bytes.toString('utf8') ?? '',
    kind: Number(first.get(6)?.value ?? 0n),
    start: first.get(7)?.value ?? 0n,
    end: first.get(8)?.value ?? 0n,
    attributes: attributesOf(all(message, 9)),
    service,
    isError: status?.value === 2n,
  };
};

/** ExportTraceServiceRequest: resource spans 1 of {resource 1 of {attributes 1}, scope spans 2 of {spans 2}}. */
export const decodeTraces = (request: Buffer): ReceivedSpan[] =>
  all(request, 1).flatMap((resourceSpans) => {
    const attributes = attributesOf(all(resourceSpans, 1).flatMap((resource) => all(resource, 1)));
    const service = String(attributes['service.name'] ?? '');
    return all(resourceSpans, 2).flatMap((scope) => all(scope, 2).map((span) => spanOf(span, service)));
  });

/** A receiver of OTLP over HTTP with protobuf, which keeps every span it gets. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** Every received byte, to search for data that must not be in it. */
  readonly requests: Buffer[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<OtlpReceiver> {
    const server = createServer();
    const receiver = new OtlpReceiver(server);
    server.on('request', (request: IncomingMessage, response) => {
      receiver.take(request).then(
        (status) => response.writeHead(status, { 'content-type': 'application/x-protobuf' }).end(),
        (error: unknown) => response.writeHead(400).end(String(error)),
      );
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return receiver;
  }

  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as { port: number }).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private async take(request: IncomingMessage): Promise<number> {
    if (request.url !== '/v1/traces' || request.headers['content-type'] !== 'application/x-protobuf') return 404;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    this.requests.push(body);
    this.spans.push(...decodeTraces(body));
    return 200;
  }
}
