import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@attestry/event-store';
import {
  CLOCK,
  Health,
  LOGGER,
  OperationRecorder,
  OperationRecorders,
  PlatformConfig,
  ServiceClient,
  type Logger,
} from '@attestry/service-kit';
import { Authenticate } from '../auth/authenticate.js';
import { PublicDocuments } from '../documents/public-documents.js';
import { InterfaceDocuments } from '../interface/interface-documents.js';
import { OperationData } from '../operation/operation-data.js';
import { CallsInFlight } from '../request/calls-in-flight.js';
import { Hosts } from '../request/hosts.js';
import { ObserveRequests } from '../request/observe-requests.js';
import { PageTurns } from '../request/page-turns.js';
import { RateLimits } from '../request/rate-limits.js';
import { RequestsInFlight } from '../request/requests-in-flight.js';
import { UnreadAnswers } from '../server/unread-answers.js';
import { Routes } from './routes.js';

/** Dependencies of steps and plugins; each names in its signature what it uses. */
@Injectable()
export class Dependencies {
  constructor(
    readonly config: PlatformConfig,
    readonly hosts: Hosts,
    readonly routes: Routes,
    readonly rates: RateLimits,
    readonly inFlight: RequestsInFlight,
    readonly callsInFlight: CallsInFlight,
    readonly pageTurns: PageTurns,
    readonly unread: UnreadAnswers,
    readonly authenticate: Authenticate,
    readonly services: ServiceClient,
    readonly recorder: OperationRecorder,
    readonly recorders: OperationRecorders,
    readonly operationData: OperationData,
    readonly observe: ObserveRequests,
    readonly documents: InterfaceDocuments,
    readonly published: PublicDocuments,
    readonly health: Health,
    @Inject(CLOCK) readonly clock: Clock,
    @Inject(LOGGER) readonly logger: Logger,
  ) {}
}
