import type { Operation } from '@attestry/contracts';
import { isBrokenConnection, type Answer, type ApiClient, type OperationParts } from '@attestry/testing';
import type { Holder } from './wallet-proof.js';

/**
 * `open`: the last change was sent, and what answered is not known; it may or may not have happened. Each thing is
 * changed by one client at a time, so nothing else can have changed it.
 */
export type Life = 'active' | 'open' | 'ended';

interface Expectation {
  life: Life;
  /** Number of the process that acknowledged the newest change. */
  since: number;
}

export interface ExpectedHolder extends Expectation {
  /** Credentials of acknowledged answers. */
  credentials: string[];
  /** Credential requests that were not answered. */
  unanswered: number;
}

export interface ExpectedUser extends ExpectedHolder {
  id: string;
  /** Absent: created with an offer. */
  note?: string;
}

/** A person who signs in: a user from the first sign-in on, whose id no wallet learns. */
export interface ExpectedPerson extends ExpectedHolder {
  /** `sub` at the authentication provider. */
  subject: string;
}

export interface ExpectedCode extends Expectation {
  code: string;
  configurationId: string;
  user: ExpectedUser;
  /** Tokens it was exchanged for: never more than one. */
  tokens: string[];
}

export interface ExpectedNonce extends Expectation {
  nonce: string;
  token: string;
  /** Key that the token is bound to. */
  dpopKey?: Holder;
  configurationId: string;
  user: ExpectedHolder;
}

/** A record that can be replaced: its value is one of `possible`, exactly one unless an update is open. */
export interface ExpectedRecord extends Expectation {
  id: string;
  possible: Set<string>;
  /** An update that was not answered may still be under way until then, milliseconds of `performance.now()`. */
  unsettledUntil?: number;
}

export interface ExpectedTenant extends Expectation {
  id: string;
  host: string;
  clientId: string;
  clientSecret: string;
  requestId: string;
}

/** Grants of a wallet whose person signs in, or did. */
export type PersonGrant = 'authorization_code' | 'refresh_token';

/** A call that was answered. */
export interface Answered {
  operation: Operation;
  baseUrl: string;
  requestId: string;
  status: number;
  /** When the answer arrived, milliseconds. */
  at: number;
}

/** Everything that was acknowledged to the clients, and every violation of it by the platform. */
export class Ledger {
  readonly answered: Answered[] = [];
  /** When processes were killed, and when the last answer of each had arrived, milliseconds. */
  readonly kills: { at: number; until: number }[] = [];
  readonly users: ExpectedUser[] = [];
  readonly people: ExpectedPerson[] = [];
  /** Flows of people's wallets up to a credential; when each began, milliseconds. */
  readonly flows: { grant: PersonGrant; began: number }[] = [];
  /** Flows that the clients begin before anything else. */
  readonly due: PersonGrant[] = [];
  readonly codes: ExpectedCode[] = [];
  readonly nonces: ExpectedNonce[] = [];
  readonly configurations: ExpectedRecord[] = [];
  readonly webhooks: ExpectedRecord[] = [];
  readonly tenants: ExpectedTenant[] = [];
  /** Broken promises, in words. */
  readonly faults: string[] = [];
  /** Calls without an answer. */
  unanswered = 0;
  /** 503 answers, which promise nothing: the call may or may not have taken effect. */
  unavailable = 0;
  /** Calls without an answer or with 503, in words. */
  readonly troubles: string[] = [];
  /** Milliseconds within which a call must be answered, whatever is broken; half as much again as its deadline, where that is a longer one. */
  patienceMs = Infinity;
  /** Number of the process that currently receives calls. */
  process = 0;
  /** Called at each acknowledged change. */
  onAcknowledged: () => void = () => {};

  fault(text: string): void {
    this.faults.push(`process ${this.process}: ${text}`);
  }

  /**
   * Sends one call and records its request id. A response with an unexpected status, except 503, is a fault.
   * @returns undefined when the connection broke before the response arrived
   */
  async send<T>(
    operation: Operation,
    client: ApiClient,
    parts: OperationParts,
    expected: readonly number[],
  ): Promise<Answer<T> | undefined> {
    const began = performance.now();
    const took = () => Math.round(performance.now() - began);
    let answer: Answer<T>;
    try {
      answer = await client.call<T>(operation, parts);
    } catch (error) {
      if (!isBrokenConnection(error)) throw error;
      this.unanswered += 1;
      this.troubles.push(`${operation.name} was not answered, after ${took()} ms`);
      return undefined;
    }
    if (took() > Math.max(this.patienceMs, 1.5 * (operation.timeoutMs ?? 0)))
      this.fault(`${operation.name} was answered after ${took()} ms`);
    const { status, headers, text } = answer;
    this.answered.push({
      operation,
      baseUrl: client.baseUrl,
      requestId: headers.get('x-request-id')!,
      status,
      at: performance.now(),
    });
    if (status === 503) {
      this.unavailable += 1;
      this.troubles.push(`${operation.name} was answered with 503, after ${took()} ms`);
    } else if (!expected.includes(status))
      this.fault(
        `${operation.name} ${JSON.stringify(parts.params ?? {})} answered ${status}, not ${expected.join(' or ')}: ${text}`,
      );
    return answer;
  }

  acknowledged(entry: Expectation, life: Life): void {
    entry.life = life;
    entry.since = this.process;
    this.onAcknowledged();
  }
}
