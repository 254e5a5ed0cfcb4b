import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Metrics, PlatformConfig } from '@attestry/service-kit';
import { plain, rateKeyOf, TrustedProxies } from '../request/client-address.js';

type Limits = Pick<PlatformConfig, 'maxConnections' | 'maxConnectionsPerPeer' | 'trustedProxies' | 'requestTimeoutMs'>;

export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/** Write progress of a connection, and since when (performance.now()) it has not changed. */
interface WriteProgress {
  written: number;
  queued: number;
  since: number;
}

/** How often write progress is compared, milliseconds. */
const PROGRESS_INTERVAL_MS = 5000;

/** Bytes of the chunk that is being written which the kernel has not taken; `writableLength` has the whole chunk until its end. */
const queuedOf = (socket: Socket): number =>
  (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;

/** The open connections of the HTTP server: their limits, in total and per peer, and the requests in flight on each. */
export class Connections {
  /** By peer; a trusted proxy has no separate limit, because many clients connect through it. */
  private readonly peers = new Map<string, Set<Socket>>();
  /** In the order of their requests; more than one where requests are pipelined. */
  private readonly exchanges = new WeakMap<Socket, Set<Exchange>>();
  private readonly proxies: TrustedProxies;
  private readonly refused;
  private readonly open = new Map<Socket, WriteProgress>();
  /** Requests that are not answered completely. */
  private inFlight = 0;

  constructor(
    private readonly limits: Limits,
    metrics: Metrics,
  ) {
    this.proxies = new TrustedProxies(limits.trustedProxies);
    this.refused = metrics.counter('httpRefused');
    metrics.onScrape(() => {
      metrics.gauge('httpConnections').set(this.open.size);
      metrics.gauge('httpInFlight').set(this.inFlight);
    });
  }

  watch(server: Server): void {
    const interval = Math.min(PROGRESS_INTERVAL_MS, Math.ceil(this.limits.requestTimeoutMs / 4));
    const timer = setInterval(() => this.endUnread(), interval).unref();
    server.once('close', () => clearInterval(timer));
    server.on('connection', (socket: Socket) => this.acceptSocket(socket));
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      const exchange = { request, response };
      const exchanges = this.exchanges.get(socket) ?? new Set();
      this.exchanges.set(socket, exchanges.add(exchange));
      this.inFlight++;
      response.once('close', () => {
        exchanges.delete(exchange);
        this.inFlight--;
      });
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
    this.open.set(socket, { written: 0, queued: 0, since: performance.now() });
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

  /** Ends connections whose client has read nothing of its answer for as long as a request may take (ADR 0044). */
  private endUnread(): void {
    const now = performance.now();
    for (const [socket, progress] of this.open) {
      const written = socket.bytesWritten - socket.writableLength;
      const queued = queuedOf(socket);
      if (socket.writableLength === 0 || written !== progress.written || queued !== progress.queued)
        this.open.set(socket, { written, queued, since: now });
      else if (now - progress.since >= this.limits.requestTimeoutMs) this.destroySocket(socket, 'timeout');
    }
  }

  private destroySocket(socket: Socket, reason: 'connections' | 'connections-of-peer' | 'timeout'): void {
    this.refused.inc({ reason });
    socket.destroy();
  }
}
