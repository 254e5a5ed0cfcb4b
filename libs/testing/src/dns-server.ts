import type { AddressInfo } from 'node:net';
import { createServer, Packet, type DnsServer } from 'dns2';

/** What a name's TXT records are: each a value, or the strings one value comes in. */
type TxtRecord = string | string[];

/** A DNS server on 127.0.0.1, over UDP and TCP, that knows TXT records and nothing else. */
export class TestDnsServer {
  private readonly records = new Map<string, TxtRecord[]>();
  private rcode = 0;
  private silent = false;
  /** Names asked for, in the order they were. */
  readonly asked: string[] = [];

  private constructor(
    private readonly server: DnsServer,
    private readonly port: number,
  ) {}

  static async start(): Promise<TestDnsServer> {
    const started: { dns?: TestDnsServer } = {};
    const server = createServer({
      udp: true,
      tcp: true,
      handle: (request, send) => started.dns?.answer(request, send),
    });
    const { udp } = (await server.listen({
      udp: { port: 0, address: '127.0.0.1' },
      tcp: { port: 0, address: '127.0.0.1' },
    })) as { udp: AddressInfo };
    return (started.dns = new TestDnsServer(server, udp.port));
  }

  /** For `DNS_SERVERS`. */
  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  set(name: string, ...values: TxtRecord[]): void {
    this.records.set(name.toLowerCase(), values);
  }

  /** Answers SERVFAIL (2), REFUSED (5) or whatever it is until it is 0 again. */
  fail(rcode: number): void {
    this.rcode = rcode;
  }

  /** Hears and never answers. */
  hush(silent: boolean): void {
    this.silent = silent;
  }

  async stop(): Promise<void> {
    await this.server.close();
  }

  private answer(request: Packet, send: (response: Packet) => void): void {
    const [question] = request.questions;
    const name = String(question?.name).toLowerCase();
    this.asked.push(name);
    if (this.silent) return;
    const response = Packet.createResponseFromRequest(request);
    const values = this.records.get(name);
    // NXDOMAIN for a name that is nobody's.
    response.header.rcode = this.rcode || (values ? 0 : 3);
    if (this.rcode === 0 && question?.type === Packet.TYPE.TXT)
      for (const data of values ?? [])
        response.answers.push({ name, type: Packet.TYPE.TXT, class: Packet.CLASS.IN, ttl: 300, data } as never);
    send(response);
  }
}
