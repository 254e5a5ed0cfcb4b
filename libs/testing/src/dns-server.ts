import { isIPv6, type AddressInfo } from 'node:net';
import { createServer, Packet, type DnsServer } from 'dns2';

/** TXT record of a name: a value, or the strings that one value comes in. */
type TxtRecord = string | string[];

/** A DNS server on 127.0.0.1, over UDP and TCP, with TXT records, and addresses of this machine. */
export class TestDnsServer {
  private readonly records = new Map<string, TxtRecord[]>();
  private readonly addresses = new Map<string, string[]>();
  private readonly silentNames = new Set<string>();
  private rcode = 0;
  private silent = false;
  /** Queried names, in order. */
  readonly queries: string[] = [];

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

  /** A and AAAA records: IPv4 and IPv6 addresses. */
  setAddresses(name: string, ...addresses: string[]): void {
    this.addresses.set(name.toLowerCase(), addresses);
  }

  /** Never answers for this name. */
  hushName(name: string): void {
    this.silentNames.add(name.toLowerCase());
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
    this.queries.push(name);
    if (this.silent || this.silentNames.has(name)) return;
    const response = Packet.createResponseFromRequest(request);
    const values = this.records.get(name);
    const addresses = this.addresses.get(name);
    // NXDOMAIN for a name that has no records.
    response.header.rcode = this.rcode || (values || addresses ? 0 : 3);
    if (this.rcode === 0)
      for (const address of addresses ?? []) {
        const type = isIPv6(address) ? Packet.TYPE.AAAA : Packet.TYPE.A;
        if (question?.type === type)
          response.answers.push({ name, type, class: Packet.CLASS.IN, ttl: 300, address } as never);
      }
    if (this.rcode === 0 && question?.type === Packet.TYPE.TXT)
      for (const data of values ?? [])
        response.answers.push({ name, type: Packet.TYPE.TXT, class: Packet.CLASS.IN, ttl: 300, data } as never);
    send(response);
  }
}
