import {
  authorize,
  exchangeToken,
  issueCredential,
  jwtVcConfigurations,
  listEvents,
  listUserCredentials,
  listUsers,
  listWebhooks,
  retrieveIssuerMetadata,
  retrieveTenant,
  retrieveUser,
  retrieveWebhook,
  updateWebhook,
  type AnalyticsEvent,
  type JwtVcConfiguration,
  type PageOf,
  type Tenant,
  type User,
  type UserCredential,
  type Webhook,
} from '@attestry/contracts';
import {
  ApiClient,
  clientToken,
  expectStatus,
  waitUntil,
  type Answer,
  type RunningPlatform,
  type SeededRandom,
} from '@attestry/testing';
import type {
  Answered,
  ExpectedCode,
  ExpectedHolder,
  ExpectedNonce,
  ExpectedPerson,
  ExpectedRecord,
  ExpectedTenant,
  ExpectedUser,
  Ledger,
} from './ledger.js';
import { exchangeParts, issueParts, oauthCode, type Scene } from './load.js';

/** Calls at once. */
const PARALLEL = 8;
const PATIENCE_MS = 30_000;
/** Records of queries and refusals are sent in batches: a kill loses those of the last second (ADR 0072). */
const LOST_MS = 1000;
/** A change to what is stored already appends no event: it is recorded as a query is. */
const MAY_CHANGE_NOTHING: ReadonlySet<string> = new Set([updateWebhook.name, jwtVcConfigurations.update.name]);

/** Calls by callers who proved nothing: of many in a minute some share a record (ADR 0098). */
const MAY_HAVE_NO_RECORD: ReadonlySet<string> = new Set([authorize.name]);

const each = async <T>(items: readonly T[], check: (item: T) => Promise<void>): Promise<void> => {
  const left = [...items];
  await Promise.all(
    Array.from({ length: PARALLEL }, async () => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await check(item);
    }),
  );
};

/** Queries a running platform for everything that earlier processes acknowledged; each difference is a fault of the ledger. */
export class Verification {
  private readonly wire: ApiClient;

  constructor(
    private readonly platform: RunningPlatform,
    private readonly scene: Scene,
    private readonly ledger: Ledger,
  ) {
    this.wire = new ApiClient(scene.tenant.url);
  }

  private get api(): ApiClient {
    return this.scene.tenant.api.client;
  }

  /** A busy machine may answer 503 for a while, but not for long. */
  private async request<T>(...call: Parameters<Ledger['send']>): Promise<Answer<T> | undefined> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const answer = await this.ledger.send<T>(...call);
      if (answer?.status !== 503) return answer;
      if (performance.now() > end) {
        this.ledger.fault(`${call[0].name} answers nothing but 503`);
        return undefined;
      }
    }
  }

  /** Everything that the last process acknowledged, and a sample of older resources. */
  async ofLastProcess(random: SeededRandom): Promise<void> {
    const last = this.ledger.process - 1;
    const some = <T extends { since: number }>(all: readonly T[]): T[] => [
      ...all.filter(({ since }) => since === last),
      ...(all.length ? [random.pick(all), random.pick(all)] : []),
    ];
    await each(some(this.ledger.users), (user) => this.user(user));
    await this.people(some(this.ledger.people));
    await each(some(this.ledger.codes), (code) => this.code(code));
    await each(some(this.ledger.nonces), (nonce) => this.nonce(nonce));
    await each(some(this.ledger.configurations), (record) => this.configuration(record));
    await each(some(this.ledger.webhooks), (record) => this.webhook(record));
    await each(some(this.ledger.tenants), (tenant) => this.tenant(tenant));
    await this.strayWebhooks();
  }

  /** Everything. Codes that were never redeemed are redeemed now. */
  async ofEverything(): Promise<void> {
    await each(this.ledger.users, (user) => this.user(user));
    await this.listOfUsers();
    await this.people(this.ledger.people);
    await each(this.ledger.codes, async (code) => {
      await this.redeemLeft(code);
      await this.code(code);
    });
    await each(this.ledger.nonces, (nonce) => this.nonce(nonce));
    await each(this.ledger.configurations, (record) => this.configuration(record));
    await each(this.ledger.webhooks, (record) => this.webhook(record));
    await each(this.ledger.tenants, (tenant) => this.tenant(tenant));
  }

  private async user({ id, note, life, credentials, unanswered }: ExpectedUser): Promise<void> {
    const expected = life === 'active' ? [200] : life === 'ended' ? [404] : [200, 404];
    const answer = await this.request<User>(retrieveUser, this.api, { params: { id } }, expected);
    if (life !== 'active') return;
    if (answer?.status === 200 && note !== undefined && answer.body.claims['note'] !== note)
      this.ledger.fault(`user ${id} has the claims ${answer.text}`);
    await this.credentialsOf(id, { credentials, unanswered });
  }

  private async credentialsOf(id: string, holder: Pick<ExpectedHolder, 'credentials' | 'unanswered'>): Promise<void> {
    const { credentials, unanswered } = holder;
    if (!credentials.length && !unanswered) return;
    const listed = await this.credentials(id, credentials.length);
    if (listed < credentials.length || listed > credentials.length + unanswered)
      this.ledger.fault(
        `user ${id}: ${listed} credentials are listed, ${credentials.length} were acknowledged, ${unanswered} not answered`,
      );
  }

  /** Each person with a credential is one user, however often the person signed in. */
  private async people(people: readonly ExpectedPerson[]): Promise<void> {
    const active = people.filter(({ life }) => life === 'active');
    if (!active.length) return;
    const listed = async () => {
      const users = (await this.users()) ?? [];
      return Map.groupBy(users, ({ authenticationProvider }) => authenticationProvider?.subjectId);
    };
    let users = await listed();
    const end = performance.now() + PATIENCE_MS;
    while (active.some(({ subject }) => !users.has(subject)) && performance.now() < end) users = await listed();
    await each(active, async (person) => {
      const [user, ...more] = users.get(person.subject) ?? [];
      if (user && !more.length) await this.credentialsOf(user.id, person);
      else this.ledger.fault(`person ${person.subject} is ${user ? more.length + 1 : 0} users`);
    });
  }

  /** Number of listed credentials once at least `wanted` are listed, or a while has passed: the list follows the stream. */
  private async credentials(userId: string, wanted: number): Promise<number> {
    const ids = async () => {
      const parts = { params: { userId }, query: { limit: 1000 } };
      const answer = await this.request<PageOf<UserCredential>>(listUserCredentials, this.api, parts, [200]);
      return answer?.status === 200 ? answer.body.data.map(({ id }) => id) : [];
    };
    let found = await ids();
    const end = performance.now() + 10_000;
    while (found.length < wanted && performance.now() < end) found = await ids();
    if (new Set(found).size !== found.length) this.ledger.fault(`a credential of user ${userId} is listed twice`);
    return found.length;
  }

  private async listOfUsers(): Promise<void> {
    const users = await this.users();
    if (!users) return;
    const listed = new Set(users.map(({ id }) => id));
    for (const { id, life } of this.ledger.users)
      if (life !== 'open' && listed.has(id) !== (life === 'active'))
        this.ledger.fault(`user ${id} is ${life}, and the list ${listed.has(id) ? 'has' : 'lacks'} it`);
  }

  /** The whole list; undefined when a page was not answered. */
  private async users(): Promise<User[] | undefined> {
    const all: User[] = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const query = { limit: 1000, ...(cursor !== undefined && { cursor }) };
      const answer = await this.request<PageOf<User>>(listUsers, this.api, { query }, [200]);
      if (answer?.status !== 200) return undefined;
      all.push(...answer.body.data);
      cursor = answer.body.nextCursor;
    }
    return all;
  }

  private async code(entry: ExpectedCode): Promise<void> {
    if (entry.life !== 'ended') return;
    const answer = await this.request(exchangeToken, this.wire, exchangeParts(entry.code), [400]);
    if (answer?.status === 400 && oauthCode(answer) !== 'invalid_grant')
      this.ledger.fault(`a spent code was refused with ${answer.text}`);
  }

  private async redeemLeft(entry: ExpectedCode): Promise<void> {
    if (entry.life === 'ended' || entry.user.life !== 'active') return;
    const expected = entry.life === 'active' ? [200] : [200, 400];
    const answer = await this.ledger.send(exchangeToken, this.wire, exchangeParts(entry.code), expected);
    if (answer?.status === 503) {
      entry.life = 'open';
      return;
    }
    if (answer?.status === 200 && entry.tokens.push('') > 1) this.ledger.fault('a code was redeemed twice');
    this.ledger.acknowledged(entry, 'ended');
  }

  private async nonce(entry: ExpectedNonce): Promise<void> {
    if (entry.life !== 'ended' || entry.user.life !== 'active') return;
    const parts = issueParts(entry, this.scene.tenant.url);
    const answer = await this.request(issueCredential, this.wire, parts, [400]);
    if (answer?.status === 400 && oauthCode(answer) !== 'invalid_nonce')
      this.ledger.fault(`a spent nonce was refused with ${answer.text}`);
  }

  private async configuration(entry: ExpectedRecord): Promise<void> {
    const { id, life, possible } = entry;
    const expected = life === 'active' ? [200] : life === 'ended' ? [404] : [200, 404];
    const parts = { params: { id } };
    const answer = await this.request<JwtVcConfiguration>(jwtVcConfigurations.retrieve, this.api, parts, expected);
    if (answer?.status === 200 && !possible.has(answer.body.name))
      this.ledger.fault(`configuration ${id} is ${answer.text}, not ${[...possible].join(' or ')}`);
  }

  private async webhook(entry: ExpectedRecord): Promise<void> {
    const { id, life, possible } = entry;
    const expected = life === 'active' ? [200] : life === 'ended' ? [404] : [200, 404];
    const parts = { params: { webhookId: id } };
    const answer = await this.request<Webhook>(retrieveWebhook, this.api, parts, expected);
    if (answer?.status === 200 && ![...possible].some((path) => answer.body.url.endsWith(path)))
      this.ledger.fault(`webhook ${id} is ${answer.text}, not ${[...possible].join(' or ')}`);
  }

  /** Webhooks whose creation was not answered would fill the tenant's places. */
  private async strayWebhooks(): Promise<void> {
    const known = new Set([this.scene.webhookId, ...this.ledger.webhooks.map(({ id }) => id)]);
    const answer = await this.request<PageOf<Webhook>>(listWebhooks, this.api, { query: { limit: 100 } }, [200]);
    for (const { id } of answer?.status === 200 ? answer.body.data : [])
      if (!known.has(id)) expectStatus(await this.scene.tenant.api.webhooks.delete(id), 204);
  }

  private async tenant(entry: ExpectedTenant): Promise<void> {
    const { management } = this.scene;
    const parts = { params: { tenantId: entry.id } };
    const answer = await this.request<Tenant>(retrieveTenant, management.client, parts, [200]);
    if (answer?.status === 200 && answer.body.subdomain !== entry.host)
      this.ledger.fault(`tenant ${entry.id} is ${answer.text}`);
    await this.request(retrieveIssuerMetadata, new ApiClient(`http://${entry.host}`), {}, [200]);
  }

  /** The trail of each new tenant begins with its creation: one START, one outcome. */
  async trailsOfTenants(): Promise<void> {
    await each(this.ledger.tenants, async (entry) => {
      const url = `http://${entry.host}`;
      const client = new ApiClient(url, await clientToken(this.platform, url, entry));
      const types = async () =>
        expectStatus(
          await client.call<PageOf<AnalyticsEvent>>(listEvents, { query: { requestIds: entry.requestId } }),
          200,
        ).data.map(({ type }) => type);
      const found = await waitUntil(
        async () => {
          const now = await types();
          return now.length > 1 && now;
        },
        { what: `the trail of tenant ${entry.id}` },
      );
      if (found.join() !== 'TENANT_CREATE_SUCCESS,TENANT_CREATE_START')
        this.ledger.fault(`the trail of tenant ${entry.id} is ${found.join()}`);
    });
  }

  /** The tenant's whole trail, once every START has an outcome: overdue ones are closed after their deadline. */
  async trail(): Promise<Map<string, AnalyticsEvent[]>> {
    return waitUntil(
      async () => {
        const calls = Map.groupBy(await this.events(), ({ requestId }) => requestId);
        const open = [...calls.values()].filter((events) => events.length < 2).flat();
        if (open.length) throw new Error(`still open: ${JSON.stringify(open.slice(0, 5))} and so on, ${open.length}`);
        const missing = this.recorded().filter(({ requestId }) => !calls.has(requestId));
        const named = missing.map(({ operation, status, requestId }) => `${operation.name} ${status} ${requestId}`);
        if (named.length) throw new Error(`not there: ${named.slice(0, 5).join()} and so on, ${named.length}`);
        return calls;
      },
      { what: 'an outcome of every START', timeoutMs: 60_000, intervalMs: 500 },
    );
  }

  private async events(): Promise<AnalyticsEvent[]> {
    const all: AnalyticsEvent[] = [];
    const { analytics } = this.scene.tenant.api;
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const query = { limit: 1000, ...(cursor !== undefined && { cursor }) };
      const { data, nextCursor } = expectStatus(await analytics.list(query), 200);
      all.push(...data);
      cursor = nextCursor;
    }
    return all;
  }

  /**
   * Answered calls of the tenant that must be in its trail: every command that succeeded, and of the others those that were not answered in the
   * last second before a kill. A 503 promises nothing.
   */
  private recorded() {
    const { url } = this.scene.tenant;
    return this.ledger.answered.filter(
      (call) =>
        call.operation.analytics &&
        !MAY_HAVE_NO_RECORD.has(call.operation.name) &&
        call.baseUrl === url &&
        call.status !== 503 &&
        this.mustBeKept(call),
    );
  }

  private mustBeKept({ operation, status, at }: Answered): boolean {
    const isEffect = operation.kind === 'command' && status < 400 && !MAY_CHANGE_NOTHING.has(operation.name);
    return isEffect || !this.ledger.kills.some((kill) => at > kill.at - LOST_MS && at <= kill.until);
  }

  /** Exactly one START and one outcome for each call in the trail, and the outcome that the caller received. */
  compareTrail(trail: Map<string, AnalyticsEvent[]>): void {
    for (const [requestId, events] of trail) {
      // Newest first.
      const [end, start, ...more] = events.map(({ type }) => type);
      if (more.length || !start?.endsWith('_START') || !/_(SUCCESS|FAIL)$/.test(end ?? ''))
        this.ledger.fault(`call ${requestId} left ${events.map(({ type }) => type).join()}`);
    }
    for (const { operation, requestId, status } of this.recorded()) {
      const types = (trail.get(requestId) ?? []).map(({ type }) => type).join();
      const { prefix } = operation.analytics!;
      if (types !== `${prefix}_${status < 400 ? 'SUCCESS' : 'FAIL'},${prefix}_START`)
        this.ledger.fault(`${operation.name} ${requestId} was answered with ${status} and left ${types || 'nothing'}`);
    }
  }
}
