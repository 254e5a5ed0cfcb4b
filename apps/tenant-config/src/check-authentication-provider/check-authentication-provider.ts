import { randomBytes, randomUUID } from 'node:crypto';
import {
  AppError,
  checkAuthenticationProvider,
  type AuthenticationProviderCheck,
  type ClientContext,
  type ProviderCredentialsCheck,
  type ProviderDocumentCheck,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import {
  AnswerTooLarge,
  Budgets,
  DnsBudgetExceeded,
  DocumentInvalid,
  DocumentRefused,
  eventContext,
  MAX_PROVIDER_BYTES,
  Operation,
  type Budget,
  type RequestOf,
} from '@attestry/service-kit';
import { errors } from 'jose';
import * as oidc from 'openid-client';
import { activeProvider, intendedClient } from '../authentication-provider/authentication-provider.decisions.js';
import {
  authenticationProvider,
  authenticationProviderStream,
  type ActiveProvider,
} from '../authentication-provider/authentication-provider.state.js';
import { Discovery, DocumentUnreachable, type DiscoveryDocument } from '../authentication-provider/discovery.js';
import { causeOf, ProviderRefused, UNREACHABLE } from '../sign-in/provider-errors.js';
import { OTHER_ORIGIN, SignInProviders, type Connection } from '../sign-in/sign-in-providers.js';

const MINUTE_MS = 60_000;
/** Limits of one provider, and of a tenant to one origin, also for providers that were deleted (ADR 0049). */
const [CHECKS_PER_MINUTE, REQUESTS_PER_MINUTE] = [10, 60];

const NOT_CHECKED = 'the discovery document is not usable';
const TOO_LATE = 'there was no answer within 5 seconds';
const TOO_LARGE = `the answer has more than ${MAX_PROVIDER_BYTES} bytes`;

/** Sends what a sign-in would send, before a person is there to fail (ADR 0113). */
@Operation(checkAuthenticationProvider)
export class CheckAuthenticationProvider {
  constructor(
    private readonly streams: Streams,
    private readonly discovery: Discovery,
    private readonly providers: SignInProviders,
    private readonly budgets: Budgets,
  ) {}

  async execute(
    { params: { id } }: RequestOf<typeof checkAuthenticationProvider>,
    context: ClientContext,
  ): Promise<AuthenticationProviderCheck> {
    const { tenant } = context;
    const { state } = await this.streams.load(authenticationProvider, authenticationProviderStream(tenant.id, id));
    const settings = activeProvider(state);
    await this.budgets.countUse(randomUUID(), budgetsOf(tenant.id, settings));
    let document: DiscoveryDocument;
    try {
      const hasSecret = settings.sealedSecret !== undefined;
      document = await this.discovery.usableDocument(tenant.id, settings.url, intendedClient(settings, hasSecret));
    } catch (error) {
      const failed: ProviderDocumentCheck = { result: 'failed', reason: NOT_CHECKED };
      const discovery: ProviderDocumentCheck = { result: 'failed', reason: reasonOfDiscovery(error) };
      return { discovery, keys: failed, credentials: { result: 'unknown', reason: NOT_CHECKED } };
    }
    let connection: Connection;
    try {
      connection = await this.providers.connectWith(tenant.id, settings, document, eventContext(context));
    } catch (error) {
      if (!(error instanceof AppError && error.check === OTHER_ORIGIN)) throw error;
      const credentials: ProviderCredentialsCheck = { result: 'unknown', reason: error.message };
      const keys = await checkKeys(this.providers.keysOf(tenant.id, document), context.deadline);
      return { discovery: { result: 'succeeded' }, keys, credentials };
    }
    const [keys, credentials] = await Promise.all([
      checkKeys(connection.keys, context.deadline),
      checkCredentials(connection.client, `${tenant.baseUrl}/v1/oauth/authentication/callback`),
    ]);
    return { discovery: { result: 'succeeded' }, keys, credentials };
  }
}

const budgetsOf = (tenantId: string, { providerId, url }: ActiveProvider): Budget[] => {
  const name = 'provider-checks';
  const common = { name, owner: tenantId, windowMs: MINUTE_MS } as const;
  return [
    {
      ...common,
      key: providerId,
      limit: CHECKS_PER_MINUTE,
      message: `At most ${CHECKS_PER_MINUTE} checks a minute are allowed for one authentication provider`,
    },
    {
      ...common,
      key: JSON.stringify([tenantId, new URL(url).origin]),
      limit: REQUESTS_PER_MINUTE,
      message: `At most ${REQUESTS_PER_MINUTE} checks a minute are sent to one origin`,
    },
  ];
};

/** Reason for an error of {@link Discovery}; addresses have one text, whatever refuses them. */
const reasonOfDiscovery = (error: unknown): string => {
  if (error instanceof DnsBudgetExceeded) return 'the DNS look-ups of the tenant took too long';
  if (!(error instanceof AppError) || error.kind !== 'invalid') throw error;
  return causeOf(error, DocumentUnreachable) ? UNREACHABLE : error.details![0]!.msg;
};

const reasonOf = (error: unknown): string | undefined => {
  if (causeOf(error, AnswerTooLarge)) return TOO_LARGE;
  if (causeOf(error, DnsBudgetExceeded)) return 'the DNS look-ups of the tenant took too long';
  return undefined;
};

const isLate = (error: unknown): boolean =>
  (error as { name?: unknown }).name === 'TimeoutError' ||
  (error instanceof oidc.ClientError && error.code === 'OAUTH_TIMEOUT') ||
  (error instanceof Error && error.cause !== undefined && isLate(error.cause));

const checkKeys = async (keys: Connection['keys'], deadline: number): Promise<ProviderDocumentCheck> => {
  try {
    await keys.keySet(0, deadline);
    return { result: 'succeeded' };
  } catch (error) {
    return { result: 'failed', reason: reasonOf(error) ?? reasonOfKeys(error) };
  }
};

const reasonOfKeys = (error: unknown): string => {
  if (error instanceof DocumentRefused) return `the answer had status ${error.status}`;
  if (error instanceof errors.JWKSInvalid) return 'the answer was no key set';
  if (error instanceof DocumentInvalid)
    return error.isMissing ? 'the discovery document has no jwks_uri' : 'the answer was not a JSON object';
  return isLate(error) ? TOO_LATE : UNREACHABLE;
};

/** With a code and a verifier that cannot exist: a provider authenticates the client before it looks for the code (RFC 6749 §3.2.1). */
const checkCredentials = async (client: oidc.Configuration, redirectUri: string): Promise<ProviderCredentialsCheck> => {
  const random = () => randomBytes(32).toString('base64url');
  const parameters = { code: `check-${random()}`, redirect_uri: redirectUri, code_verifier: random() };
  try {
    await oidc.genericGrantRequest(client, 'authorization_code', parameters);
    return { result: 'unknown', reason: 'the token endpoint accepted a code that cannot exist' };
  } catch (error) {
    const refused = causeOf(error, ProviderRefused);
    if (refused) return resultOf(refused);
    if (error instanceof oidc.ClientError && error.code !== undefined && error.code !== 'OAUTH_TIMEOUT')
      return { result: 'unknown', reason: 'the answer of the token endpoint was not one of OAuth' };
    return { result: 'unknown', reason: reasonOf(error) ?? (isLate(error) ? TOO_LATE : UNREACHABLE) };
  }
};

const resultOf = (refused: ProviderRefused): ProviderCredentialsCheck => {
  const { status, error, description } = refused;
  const answer = {
    status,
    ...(error !== undefined && { error }),
    ...(description !== undefined && { errorDescription: description }),
  };
  const isAnswered = status < 500 && status !== 429;
  if (isAnswered && refused.isOfClient) return { result: 'refused', ...answer };
  if (isAnswered && status >= 400 && error !== undefined) return { result: 'notRefused', ...answer };
  return { result: 'unknown', ...answer, reason: `the token endpoint answered with status ${status}` };
};
