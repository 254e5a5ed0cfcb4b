import { setTimeout as pause } from 'node:timers/promises';
import {
  createPreAuthorizedOffer,
  createTenant,
  createUser,
  createWebhook,
  deletePreAuthorizedOffer,
  deleteUser,
  deleteWebhook,
  exchangeToken,
  issueCredential,
  issueNonce,
  jwtVcConfigurations,
  updateWebhook,
  type AccessTokenResponse,
  type CreatedTenant,
  type CredentialResponse,
  type JwtVcConfigurationRequest,
  type NonceResponse,
  type Operation,
  type PreAuthorizedOffer,
  type User,
  type WebhookRequest,
} from '@attestry/contracts';
import {
  ApiClient,
  SeededRandom,
  type Answer,
  type ManagementApi,
  type OperationParts,
  type TenantUnderTest,
} from '@attestry/testing';
import type {
  ExpectedCode,
  ExpectedNonce,
  ExpectedPerson,
  ExpectedRecord,
  ExpectedUser,
  Ledger,
  PersonGrant,
} from './ledger.js';
import type { SignIn } from './sign-in.js';
import { makeDpopProof, makeHolder, makeProof, type Holder } from './wallet-proof.js';

export interface Scene {
  management: ManagementApi;
  environmentId: string;
  tenant: TenantUnderTest;
  configurationId: string;
  /** Receives the webhook of every credential. */
  webhookId: string;
  /** Target of the clients' webhooks. */
  hookUrl: (path: string) => string;
  /** Present: people sign in, too. */
  signIn?: SignIn;
}

/** How a client bears what goes wrong. */
export interface LoadOptions {
  /** Continues after a broken connection: other processes may respond. */
  goesOn?: boolean;
  /** Milliseconds of rest between two things it does; default none. */
  restMs?: number;
}

/** An unanswered call may be under way for so long, milliseconds. */
const UNSETTLED_MS = 30_000;
/** After an answer that was none, before something else is tried, milliseconds. */
const TROUBLED_MS = 50;

/** Clients that have a webhook; a tenant has at most 20. */
const WEBHOOK_CLIENTS = 8;

const GRANT = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';

export const exchangeParts = (code: string): OperationParts => ({
  body: new URLSearchParams({ grant_type: GRANT, 'pre-authorized_code': code }),
});

export const issueParts = ({ token, dpopKey, ...entry }: ExpectedNonce, issuer: string): OperationParts => ({
  token,
  ...(dpopKey && {
    headers: {
      authorization: `DPoP ${token}`,
      DPoP: makeDpopProof(dpopKey, issuer + issueCredential.http!.path, token),
    },
  }),
  body: {
    credential_configuration_id: entry.configurationId,
    proofs: { jwt: [makeProof(makeHolder(), issuer, entry.nonce)] },
  },
});

/** Refresh token of a wallet, with the key that it is bound to. */
interface Family {
  person: ExpectedPerson;
  refreshToken: string;
  dpopKey: Holder;
}

/** Sign-ins of one person; a tenant limits those of an hour. */
const SIGN_INS_EACH = 10;

/** `error` of an OAuth answer. */
export const oauthCode = ({ body }: Answer): unknown => (body as { error?: unknown } | undefined)?.error;

/**
 * One client: one call after the other on its own resources, chosen by its seed, until it is stopped or, unless it
 * continues, a connection breaks. It continues in the next process from the same state.
 */
export class LoadClient {
  private readonly random: SeededRandom;
  private readonly wire: ApiClient;
  private readonly users: ExpectedUser[] = [];
  private codes: ExpectedCode[] = [];
  private nonces: ExpectedNonce[] = [];
  private readonly configurations: (ExpectedRecord & { type: string })[] = [];
  private readonly people: { person: ExpectedPerson; signIns: number }[] = [];
  private readonly families: Family[] = [];
  private webhook: ExpectedRecord | undefined;
  private names = 0;
  private stopped = false;

  constructor(
    private readonly index: number,
    seed: number,
    private readonly scene: Scene,
    private readonly ledger: Ledger,
    private readonly options: LoadOptions = {},
  ) {
    this.random = new SeededRandom(seed + index * 7919);
    this.wire = new ApiClient(scene.tenant.url);
  }

  stop(): void {
    this.stopped = true;
  }

  async runLoad(): Promise<void> {
    this.stopped = false;
    while (!this.stopped) {
      await this.step();
      if (this.options.restMs) await pause(this.options.restMs);
    }
  }

  private step(): Promise<void> {
    const { signIn } = this.scene;
    if (signIn) {
      const due = this.ledger.due.shift();
      const at = this.random.next();
      if (due === 'authorization_code' || (!due && at < 0.1)) return this.signIn(signIn);
      if (due === 'refresh_token' || at < 0.2) return this.refresh(signIn);
    }
    const at = this.random.next();
    if (at < 0.4) return this.collect();
    if (at < 0.52) return this.offerOnly();
    if (at < 0.62) return this.goOn();
    if (at < 0.76) return this.makeUser();
    if (at < 0.83) return this.endUser();
    if (at < 0.91) return this.index < WEBHOOK_CLIENTS ? this.changeWebhook() : this.makeUser();
    if (at < 0.98) return this.changeConfiguration();
    return this.makeTenant();
  }

  private async call<T>(
    operation: Operation,
    client: ApiClient,
    parts: OperationParts,
    expected: readonly number[],
  ): Promise<Answer<T> | undefined> {
    if (this.stopped) return undefined;
    const answer = await this.ledger.send<T>(operation, client, parts, expected);
    if (!answer && !this.options.goesOn) this.stopped = true;
    if (this.options.goesOn && (!answer || answer.status === 503)) await pause(TROUBLED_MS);
    return answer;
  }

  private get api(): ApiClient {
    return this.scene.tenant.api.client;
  }

  private name(what: string): string {
    return `${what}-${this.index}-${++this.names}`;
  }

  private async makeUser(): Promise<void> {
    const note = this.name('note');
    const answer = await this.call<User>(createUser, this.api, { body: { claims: { note } } }, [201]);
    if (answer?.status === 201) this.addUser({ id: answer.body.id, note });
  }

  private addUser(user: Pick<ExpectedUser, 'id' | 'note'>): ExpectedUser {
    const entry: ExpectedUser = { ...user, credentials: [], unanswered: 0, life: 'active', since: 0 };
    this.users.push(entry);
    this.ledger.users.push(entry);
    this.ledger.acknowledged(entry, 'active');
    return entry;
  }

  private async endUser(): Promise<void> {
    const user = this.users.find(({ life }) => life === 'open') ?? this.random.pick([...this.users, undefined]);
    if (!user || user.life === 'ended') return;
    const expected = user.life === 'open' ? [204, 404] : [204];
    // Offers of a deleted user cannot be redeemed any more: nothing is promised about them.
    this.codes = this.codes.filter((code) => code.user !== user);
    this.nonces = this.nonces.filter((nonce) => nonce.user !== user);
    user.life = 'open';
    const answer = await this.call(deleteUser, this.api, { params: { id: user.id } }, expected);
    if (answer && expected.includes(answer.status)) this.ledger.acknowledged(user, 'ended');
  }

  private async offer(): Promise<ExpectedCode | undefined> {
    const activeUsers = this.users.filter(({ life }) => life === 'active');
    const user = this.random.next() < 0.5 && activeUsers.length ? this.random.pick(activeUsers) : undefined;
    const body = {
      credentials: [this.scene.configurationId],
      claims: { given_name: this.name('Ada') },
      expiresIn: { minutes: 10 },
      ...(user && { userId: user.id }),
    };
    const answer = await this.call<PreAuthorizedOffer>(createPreAuthorizedOffer, this.api, { body }, [200]);
    if (answer?.status !== 200) return undefined;
    const offered = JSON.parse(new URL(answer.body.uri).searchParams.get('credential_offer')!) as {
      credential_configuration_ids: string[];
      grants: Record<string, Record<string, string>>;
    };
    const entry: ExpectedCode = {
      code: offered.grants[GRANT]!['pre-authorized_code']!,
      configurationId: offered.credential_configuration_ids[0]!,
      user: user ?? this.addUser({ id: answer.body.userId }),
      tokens: [],
      life: 'active',
      since: 0,
    };
    this.ledger.codes.push(entry);
    this.ledger.acknowledged(entry, 'active');
    // Some are taken back: their codes are as good as redeemed ones.
    if (this.random.next() < 0.1) {
      entry.life = 'open';
      const id = answer.body.id;
      const deleted = await this.call(deletePreAuthorizedOffer, this.api, { params: { id } }, [204]);
      if (deleted?.status === 204) this.ledger.acknowledged(entry, 'ended');
      return undefined;
    }
    this.codes.push(entry);
    return entry;
  }

  private async offerOnly(): Promise<void> {
    await this.offer();
  }

  private async collect(): Promise<void> {
    const code = await this.offer();
    if (code) await this.redeemAndCollect(code);
  }

  /** Something that was begun, perhaps with another process. */
  private async goOn(): Promise<void> {
    const open = this.nonces.find(({ life }) => life === 'open');
    if (open) return this.issue(open);
    const code = this.codes.find(({ life }) => life === 'open') ?? this.codes[0];
    if (code) return this.redeemAndCollect(code);
  }

  private async redeemAndCollect(code: ExpectedCode): Promise<void> {
    this.codes = this.codes.filter((one) => one !== code);
    // Now and then two at once, as a stolen code would be.
    const twice = this.random.next() < 0.15;
    const before = code.life;
    code.life = 'open';
    const answers = await Promise.all((twice ? [1, 2] : [1]).map(() => this.exchange(code)));
    if (!answers.includes('broken')) {
      if (before === 'active' && !answers.includes('granted'))
        this.ledger.fault(`a code that was not redeemed was refused: ${answers.join(', ')}`);
      this.ledger.acknowledged(code, 'ended');
    } else if (code.tokens.length) this.ledger.acknowledged(code, 'ended');
    else this.codes.push(code);
    const token = code.tokens[0];
    if (token === undefined) return;
    const rounds = this.random.next() < 0.2 ? 2 : 1;
    const { configurationId, user } = code;
    for (let round = 0; round < rounds; round++)
      if (!(await this.issueWithNonce({ token, configurationId, user }))) return;
  }

  /** @returns false when there was no nonce */
  private async issueWithNonce(
    entry: Pick<ExpectedNonce, 'token' | 'dpopKey' | 'configurationId' | 'user'>,
  ): Promise<boolean> {
    const answer = await this.call<NonceResponse>(issueNonce, this.wire, {}, [200]);
    if (answer?.status !== 200) return false;
    const nonce: ExpectedNonce = {
      ...entry,
      nonce: answer.body.c_nonce,
      life: 'active',
      since: this.ledger.process,
    };
    this.ledger.nonces.push(nonce);
    await this.issue(nonce);
    return true;
  }

  /** Authorization code flow. A wallet that proves a key gets a refresh token (ADR 0090). */
  private async signIn(signIn: SignIn, dpopKey = this.random.next() < 0.5 ? makeHolder() : undefined): Promise<void> {
    const began = performance.now();
    const known = this.people.filter(({ signIns }) => signIns < SIGN_INS_EACH);
    const entry = this.random.pick([...known, undefined]) ?? this.addPerson();
    entry.signIns += 1;
    const { person } = entry;
    const request = await signIn.authorize(person.subject, (...call) =>
      this.call(call[0], this.wire, call[1], call[2]),
    );
    if (!request) return;
    const token = await this.token(request, dpopKey);
    if (!token) return;
    const refreshToken = token.refresh_token;
    if ((refreshToken !== undefined) !== (dpopKey !== undefined))
      this.ledger.fault(`the token response of a sign-in ${refreshToken ? 'has a' : 'lacks its'} refresh token`);
    if (refreshToken !== undefined && dpopKey) this.families.push({ person, refreshToken, dpopKey });
    await this.collectAsPerson('authorization_code', began, person, token, dpopKey);
  }

  private async refresh(signIn: SignIn): Promise<void> {
    if (!this.families.length) await this.signIn(signIn, makeHolder());
    if (!this.families.length) return;
    const began = performance.now();
    const { person, refreshToken, dpopKey } = this.random.pick(this.families);
    const token = await this.token(signIn.refresh(refreshToken), dpopKey);
    if (token) await this.collectAsPerson('refresh_token', began, person, token, dpopKey);
  }

  private addPerson(): { person: ExpectedPerson; signIns: number } {
    const subject = this.name('person');
    const person: ExpectedPerson = { subject, credentials: [], unanswered: 0, life: 'open', since: 0 };
    const entry = { person, signIns: 0 };
    this.people.push(entry);
    this.ledger.people.push(person);
    return entry;
  }

  private async token(form: Record<string, string>, dpopKey?: Holder): Promise<AccessTokenResponse | undefined> {
    const htu = this.scene.tenant.url + exchangeToken.http!.path;
    const parts = {
      body: new URLSearchParams(form),
      ...(dpopKey && { headers: { DPoP: makeDpopProof(dpopKey, htu) } }),
    };
    const answer = await this.call<AccessTokenResponse>(exchangeToken, this.wire, parts, [200]);
    return answer?.status === 200 ? answer.body : undefined;
  }

  private async collectAsPerson(
    grant: PersonGrant,
    began: number,
    user: ExpectedPerson,
    { access_token: token }: AccessTokenResponse,
    dpopKey?: Holder,
  ): Promise<void> {
    const { configurationId } = this.scene;
    const { length } = user.credentials;
    await this.issueWithNonce({ token, ...(dpopKey && { dpopKey }), configurationId, user });
    if (user.credentials.length > length) this.ledger.flows.push({ grant, began });
  }

  private async exchange(code: ExpectedCode): Promise<'granted' | 'refused' | 'broken'> {
    const answer = await this.call<AccessTokenResponse>(exchangeToken, this.wire, exchangeParts(code.code), [200, 400]);
    if (!answer || answer.status >= 500) return 'broken';
    if (answer.status === 200) {
      code.tokens.push(answer.body.access_token);
      if (code.tokens.length > 1) this.ledger.fault('a code was redeemed twice');
      return 'granted';
    }
    if (oauthCode(answer) !== 'invalid_grant') this.ledger.fault(`a code was refused with ${answer.text}`);
    return 'refused';
  }

  private async issue(entry: ExpectedNonce): Promise<void> {
    this.nonces = this.nonces.filter((one) => one !== entry);
    const before = entry.life;
    entry.life = 'open';
    entry.user.unanswered += 1;
    const parts = issueParts(entry, this.scene.tenant.url);
    const answer = await this.call<CredentialResponse>(issueCredential, this.wire, parts, [200, 400]);
    if (!answer || answer.status >= 500) {
      this.nonces.push(entry);
      return;
    }
    if (answer.status === 200) {
      entry.user.unanswered -= 1;
      entry.user.credentials.push(answer.body.credentials[0]!.credential as string);
      this.ledger.acknowledged(entry.user, 'active');
    } else {
      entry.user.unanswered -= 1;
      if (oauthCode(answer) !== 'invalid_nonce' || before === 'active')
        this.ledger.fault(`a credential request was refused: ${answer.text}`);
    }
    this.ledger.acknowledged(entry, 'ended');
  }

  private async changeWebhook(): Promise<void> {
    const entry = this.webhook;
    const url = this.scene.hookUrl(`/${this.name('own')}`);
    const body: WebhookRequest = {
      events: ['OpenIdCredentialIssuedSummary'],
      url,
      disabled: this.random.next() < 0.7,
    };
    if (!entry) {
      const answer = await this.call<{ id: string }>(createWebhook, this.api, { body }, [201]);
      if (answer?.status !== 201) return;
      this.webhook = { id: answer.body.id, possible: new Set([url]), life: 'active', since: 0 };
      this.ledger.webhooks.push(this.webhook);
      this.ledger.acknowledged(this.webhook, 'active');
      return;
    }
    const ended = await this.change(
      entry,
      url,
      (params) => this.call(updateWebhook, this.api, { params: { webhookId: params }, body }, [200]),
      (params, expected) => this.call(deleteWebhook, this.api, { params: { webhookId: params } }, expected),
    );
    if (ended) this.webhook = undefined;
  }

  private async changeConfiguration(): Promise<void> {
    const entry = this.configurations[0];
    const name = this.name('Configuration');
    const bodyOf = (type: string): JwtVcConfigurationRequest => ({
      type,
      name,
      issuer: { name: 'University' },
      claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
    });
    if (!entry || this.random.next() < 0.3) {
      const type = name.replaceAll('-', 'x');
      const parts = { body: bodyOf(type) };
      const answer = await this.call<{ id: string }>(jwtVcConfigurations.create, this.api, parts, [201]);
      if (answer?.status !== 201) return;
      const made = { id: answer.body.id, type, possible: new Set([name]), life: 'active' as const, since: 0 };
      this.configurations.push(made);
      this.ledger.configurations.push(made);
      this.ledger.acknowledged(made, 'active');
      return;
    }
    const { type } = entry;
    const ended = await this.change(
      entry,
      name,
      (id) => this.call(jwtVcConfigurations.update, this.api, { params: { id }, body: bodyOf(type) }, [200]),
      (id, expected) => this.call(jwtVcConfigurations.delete, this.api, { params: { id } }, expected),
    );
    if (ended) this.configurations.shift();
  }

  /** Replaces or deletes a record. @returns true when it was deleted */
  private async change(
    entry: ExpectedRecord,
    value: string,
    update: (id: string) => Promise<Answer | undefined>,
    end: (id: string, expected: number[]) => Promise<Answer | undefined>,
  ): Promise<boolean> {
    if (entry.life === 'open' || this.random.next() < 0.4) {
      const expected = entry.life === 'open' ? [204, 404] : [204];
      entry.life = 'open';
      const answer = await end(entry.id, expected);
      if (!answer || !expected.includes(answer.status)) return false;
      this.ledger.acknowledged(entry, 'ended');
      return true;
    }
    entry.possible.add(value);
    const answer = await update(entry.id);
    if (answer?.status === 200) {
      // An earlier unanswered update may be done after this one.
      if (!entry.unsettledUntil || entry.unsettledUntil < performance.now()) entry.possible = new Set([value]);
      this.ledger.acknowledged(entry, 'active');
    } else entry.unsettledUntil = performance.now() + UNSETTLED_MS;
    return false;
  }

  private async makeTenant(): Promise<void> {
    const { management, environmentId } = this.scene;
    const subdomain = this.name('t');
    const body = { name: subdomain, subdomain, environmentId };
    const answer = await this.call<CreatedTenant>(createTenant, management.client, { body }, [201]);
    if (answer?.status !== 201) return;
    const { id, subdomain: host, client } = answer.body;
    const requestId = answer.headers.get('x-request-id')!;
    const entry = { id, host, ...client, requestId, life: 'active' as const, since: 0 };
    this.ledger.tenants.push(entry);
    this.ledger.acknowledged(entry, 'active');
  }
}
