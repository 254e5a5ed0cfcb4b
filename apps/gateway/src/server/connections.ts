import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Metrics, PlatformConfig } from '@attestry/service-kit';
import { plain, rateKeyOf, TrustedProxies } from '../request/client-address.js';

type Limits = Pick<PlatformConfig, 'maxConnections' | 'maxConnectionsPerPeer' | 'trustedProxies'>;

export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/** The open connections of the HTTP server: their limits, in total and per peer, and the requests in flight on each. */
export class Connections {
  /** By peer; a trusted proxy has no separate limit, because many clients connect through it. */
  private readonly peers = new Map<string, Set<Socket>>();
  /** In the order of their requests; more than one where requests are pipelined. */
  private readonly exchanges = new WeakMap<Socket, Set<Exchange>>();
  private readonly proxies: TrustedProxies;
  private readonly refused;
  private readonly open = new Set<Socket>();

  constructor(
    private readonly limits: Limits,
    metrics: Metrics,
  ) {
    this.proxies = new TrustedProxies(limits.trustedProxies);
    this.refused = metrics.counter('httpRefused');
    metrics.onScrape(() => {
      metrics.gauge('httpConnections').set(this.open.size);
      let inFlight = 0;
      for (const socket of this.open) inFlight += this.exchanges.get(socket)?.size ?? 0;
      metrics.gauge('httpInFlight').set(inFlight);
    });
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.acceptSocket(socket));
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      const exchange = { request, response };
      const exchanges = this.exchanges.get(socket) ?? new Set();
      this.exchanges.set(socket, exchanges.add(exchange));
      response.once('close', exchanges.delete.bind(exchanges, exchange));
    });
  }

  /** The last request of a connection that is not answered yet. */
  exchangeOn(socket: Socket): Exchange | undefined {
    return [...(this.exchanges.get(socket) ?? [])].at(-1);
  }

  /**
   * Ends a connection that Node has detached from its HTTP server, when requests on it are not answered yet. Node no longer
   * closes them with the connection.
   * @returns whether there were any
   */
  abortExchanges(socket: Socket): boolean {
    const exchanges = [...(this.exchanges.get(socket) ?? [])];
    if (exchanges.length === 0) return false;
    socket.destroy();
    for (const { request, response } of exchanges) {
      request.destroy();
      response.destroy();
    }
    return true;
  }

  private acceptSocket(socket: Socket): void {
    const address = plain(socket.remoteAddress ?? '');
    const isProxy = this.proxies.trusts(address);
    const peer = rateKeyOf(address);
    const ofPeer = isProxy ? 0 : (this.peers.get(peer)?.size ?? 0);
    if (ofPeer >= this.limits.maxConnectionsPerPeer) return this.destroySocket(socket, 'connections-of-peer');
    if (this.open.size >= this.limits.maxConnections && !this.makeRoom(ofPeer))
      return this.destroySocket(socket, 'connections');
    this.open.add(socket);
    const sockets = isProxy ? undefined : (this.peers.get(peer) ?? new Set());
    if (sockets) this.peers.set(peer, sockets.add(socket));
    socket.once('close', () => {
      this.open.delete(socket);
      if (sockets?.delete(socket) && sockets.size === 0) this.peers.delete(peer);
    });
  }

  /**
   * Closes a connection of the peer with the most, so that a few peers cannot exhaust the total. Only one that waits for its client:
   * idle, with an incomplete request, or with an unread response.
   */
  private makeRoom(ofPeer: number): boolean {
    let most = new Set<Socket>();
    for (const sockets of this.peers.values()) if (sockets.size > most.size) most = sockets;
    if (most.size <= ofPeer + 1) return false;
    for (const socket of most) {
      const request = this.exchangeOn(socket)?.request;
      if (socket.destroyed || (request?.complete && !socket.writableNeedDrain)) continue;
      this.destroySocket(socket, 'connections');
      return true;
    }
    return false;
  }

  private destroySocket(socket: Socket, reason: 'connections' | 'connections-of-peer'): void {
    this.refused.inc({ reason });
    socket.destroy();
  }
}
