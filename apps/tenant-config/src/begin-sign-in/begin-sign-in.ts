import { Inject } from '@nestjs/common';
import {
  asciiAddress,
  beginSignIn,
  withParameters,
  type BegunSignIn,
  type TenantServiceContext,
} from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import {
  CLOCK,
  eventContext,
  LOGGER,
  Operation,
  requestFields,
  type Logger,
  type RequestOf,
} from '@attestry/service-kit';
import * as oidc from 'openid-client';
import { pushEndpointOf } from '../authentication-provider/provider-requirements.js';
import { authenticationParameters } from '../sign-in/authentication-parameters.js';
import { asOAuthError, loggedFailure, providerFailed } from '../sign-in/sign-in-failures.js';
import { SignInProviders, type SignInProvider } from '../sign-in/sign-in-providers.js';

/** Least time that is left for a request to the provider and what follows, milliseconds: a request may take 5 s. */
const LEAST_MS = 6500;
/** Pause after a pushed request that failed: people can sign in without one, and need not wait for it. */
const NOT_PUSHED_MS = 30_000;
/** Characters of a `request_uri`: it becomes part of an address that browsers open. */
const MOST_URI = 2048;

/**
 * The address of the provider for a browser. Parameters are pushed where the provider takes them (RFC 9126), so that they cannot be changed on
 * the way (ADR 0113).
 */
@Operation(beginSignIn)
export class BeginSignIn {
  /** Until when nothing is pushed by a client, milliseconds since the epoch. */
  private readonly pauses = new WeakMap<oidc.Configuration, number>();

  constructor(
    private readonly providers: SignInProviders,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async execute({ body }: RequestOf<typeof beginSignIn>, context: TenantServiceContext): Promise<BegunSignIn> {
    const provider = await this.providers.current(context.tenant.id, eventContext(context));
    const { settings, authorizationEndpoint } = provider;
    const parameters = authenticationParameters(settings, body);
    parameters.set('client_id', settings.clientId);
    const sent = (await this.pushed(provider, parameters, context)) ?? parameters;
    // RFC 6749 §3.1: the query of the endpoint is retained, and no parameter is sent twice.
    const names = [...sent.keys(), ...parameters.keys()];
    const url = withParameters(asciiAddress(authorizationEndpoint), sent, names);
    const { providerId, identitySpaceId } = settings;
    return { providerId, ...(identitySpaceId !== undefined && { identitySpaceId }), url };
  }

  /**
   * Parameters that stand for pushed ones; undefined where the browser takes them all.
   * @throws AppError where the provider requires pushed requests and does not take this one
   */
  private async pushed(
    { settings, client }: SignInProvider,
    parameters: URLSearchParams,
    context: TenantServiceContext,
  ): Promise<URLSearchParams | undefined> {
    const { supportsPKCE: _, ...metadata } = client.serverMetadata();
    const isRequired = metadata.require_pushed_authorization_requests === true;
    const isInTime = context.deadline - Date.now() >= LEAST_MS;
    const isPaused = this.clock.now().getTime() < (this.pauses.get(client) ?? 0);
    if (!isRequired && (pushEndpointOf(metadata) === undefined || !isInTime || isPaused)) return undefined;
    if (pushEndpointOf(metadata) === undefined)
      throw providerFailed('requires pushed requests at another origin than that of its token endpoint');
    try {
      const url = await oidc.buildAuthorizationUrlWithPAR(client, parameters);
      const requestUri = url.searchParams.get('request_uri')!;
      if (requestUri.length > MOST_URI) throw new TypeError(`request_uri has more than ${MOST_URI} characters`);
      return new URLSearchParams({ client_id: settings.clientId, request_uri: requestUri });
    } catch (error) {
      this.logger.info(
        { ...requestFields(context), providerId: settings.providerId, isRequired, ...loggedFailure(error) },
        'authorization request not pushed',
      );
      if (isRequired) throw asOAuthError(error, 'pushed request');
      this.pauses.set(client, this.clock.now().getTime() + NOT_PUSHED_MS);
      return undefined;
    }
  }
}
