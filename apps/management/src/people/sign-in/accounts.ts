import { Inject, Injectable } from '@nestjs/common';
import { AppError } from '@attestry/contracts';
import { Streams, type Clock, type EventContext, type Ids } from '@attestry/event-store';
import { isErased, Macs, PLATFORM, Sealing, type Sealed } from '@attestry/keys';
import { CLOCK, IDS, serviceContext } from '@attestry/service-kit';
import { openAccount } from '../account/account.decisions.js';
import { account, accountStream, type OpenAccount } from '../account/account.state.js';
import { accountEmail } from '../account/account-email.claim.js';
import { Passwords } from './passwords.js';

/** Personal data of an account, in plain text. */
export interface AccountHolder {
  accountId: string;
  email: string;
  name: string;
}

/** Accounts of the built-in sign-in. An address is looked up by its MAC (ADR 0058). */
@Injectable()
export class Accounts {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    private readonly passwords: Passwords,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  /** Placeholder for an address that must not be revealed. */
  macOf(email: string): string {
    return this.macs.mac(email.trim().toLowerCase(), 'account-email').mac;
  }

  async exists(email: string): Promise<boolean> {
    return (await this.find(email)) !== undefined;
  }

  /** `undefined` when the address has none. */
  async byEmail(email: string): Promise<AccountHolder | undefined> {
    const found = await this.find(email);
    return found && this.holder(found);
  }

  /**
   * `undefined` for an unknown account and for a wrong password, after the same work.
   * @param caller whose concurrent sign-ins are limited
   * @throws AppError 503 or 429 with too many concurrent sign-ins
   */
  async verifyPassword(email: string, password: string, caller: string): Promise<AccountHolder | undefined> {
    const found = await this.find(email);
    const stored = found && (await this.openValue(found.sealedPassword));
    return (await this.passwords.verify(password, stored, caller)) && found ? this.holder(found) : undefined;
  }

  /** `undefined` when it does not exist or was erased. */
  async byId(accountId: string): Promise<AccountHolder | undefined> {
    const { state } = await this.streams.load(account, accountStream(accountId));
    return state.status === 'open' ? this.holder(state) : undefined;
  }

  /**
   * @param caller whose concurrent sign-ins are limited
   * @throws AppError conflict when the address has an account; 503 or 429 with too many concurrent sign-ins
   */
  async createAccount(
    given: { email: string; name: string; password: string },
    requestId: string,
    caller: string,
  ): Promise<AccountHolder> {
    const email = given.email.trim().toLowerCase();
    const { name } = given;
    const password = await this.passwords.hash(given.password, caller);
    const events = this.events(requestId);
    const now = this.clock.now().toISOString();
    const claim = await this.streams.runDecision(
      accountEmail,
      accountEmail.stream(this.macOf(email)),
      (current) => accountEmail.claim(current, { owner: this.ids.uuid() }, { now }),
      events,
    );
    const accountId = accountEmail.ownerOf(claim.state);
    await this.sealing.createDataKey(PLATFORM, 'user', accountId);
    const [sealedEmail, sealedName, sealedPassword] = await Promise.all(
      [email, name, password].map((text) => this.sealing.sealText(PLATFORM, 'user', accountId, text)),
    );
    const command = { accountId, sealedEmail: sealedEmail!, sealedName: sealedName!, sealedPassword: sealedPassword! };
    await this.streams.runDecision(
      account,
      accountStream(accountId),
      (current) => openAccount(current, command, { now }),
      events,
    );
    return { accountId, email, name };
  }

  private async find(email: string): Promise<OpenAccount | undefined> {
    const { state: claim } = await this.streams.load(accountEmail, accountEmail.stream(this.macOf(email)));
    if (claim.status !== 'claimed') return undefined;
    const { state } = await this.streams.load(account, accountStream(claim.owner));
    return state.status === 'open' ? state : undefined;
  }

  private async holder({ id, sealedEmail, sealedName }: OpenAccount): Promise<AccountHolder | undefined> {
    const [email, name] = await Promise.all([this.openValue(sealedEmail), this.openValue(sealedName)]);
    return email === undefined || name === undefined ? undefined : { accountId: id, email, name };
  }

  private async openValue(sealed: Sealed): Promise<string | undefined> {
    const text = await this.sealing.openSealed(PLATFORM, 'user', sealed);
    return isErased(text) ? undefined : text;
  }

  private events(requestId: string): EventContext {
    const own = serviceContext('management.sign-in', PLATFORM, this.ids.uuid());
    return { ...own, correlationId: requestId, causationId: requestId };
  }
}

/** Whether the account was opened concurrently. */
export const isTaken = (error: unknown): boolean => error instanceof AppError && error.kind === 'conflict';
