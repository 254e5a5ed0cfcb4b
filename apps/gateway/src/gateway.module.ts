import { Module } from '@nestjs/common';
import { OPERATIONS } from '@attestry/contracts';
import type { EngineNeed, Hosted } from '@attestry/service-kit';
import { Authenticate } from './auth/authenticate.js';
import { TokenVerifier } from './auth/token-verifier.js';
import { UserTokenVerifier } from './auth/user-token-verifier.js';
import { Directory } from './directory/directory.js';
import { CallsInFlight } from './request/calls-in-flight.js';
import { PageTurns } from './request/page-turns.js';
import { PublicDocuments } from './documents/public-documents.js';
import { Hosts } from './request/hosts.js';
import { ObserveRequests } from './request/observe-requests.js';
import { RateLimits } from './request/rate-limits.js';
import { RequestsInFlight } from './request/requests-in-flight.js';
import { InterfaceDocuments } from './interface/interface-documents.js';
import { READ_DOCUMENT, readCommitted, SERVED_OPERATIONS } from './interface/served-operations.js';
import { OperationData } from './operation/operation-data.js';
import { Dependencies } from './pipeline/dependencies.js';
import { Pipeline } from './pipeline/mount.js';
import { Routes } from './pipeline/routes.js';
import { UnreadAnswers } from './server/unread-answers.js';
import { SignInPages } from './plugins/sign-in-pages.js';

/** Engines beside the bus: the gateway stores nothing. */
export const GATEWAY_NEEDS: readonly EngineNeed[] = ['rates'];

@Module({
  providers: [
    { provide: SERVED_OPERATIONS, useValue: OPERATIONS },
    { provide: READ_DOCUMENT, useValue: readCommitted },
    InterfaceDocuments,
    PublicDocuments,
    Directory,
    Hosts,
    ObserveRequests,
    RateLimits,
    RequestsInFlight,
    CallsInFlight,
    PageTurns,
    UnreadAnswers,
    TokenVerifier,
    UserTokenVerifier,
    Authenticate,
    OperationData,
    Routes,
    Dependencies,
    SignInPages,
    Pipeline,
  ],
  exports: [Pipeline],
})
export class GatewayModule {}

export const gatewayParticipant: Hosted = { name: 'gateway', module: GatewayModule };
