import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JwkSet, Operation } from '@attestry/contracts';

/** A person, as an access token tells of them. */
export interface PersonOfIssuer {
  issuer: string;
  subject: string;
  email?: string;
  emailVerified: boolean;
  name?: string;
}

/** What a page of the sign-in knows of the request beside itself, and may ask the gateway for. */
export interface SignInCall {
  requestId: string;
  /** What attempts are counted by. */
  address: string;
  /**
   * Calls an operation as this person, as if they had called the API with a token of theirs.
   * @throws AppError
   */
  call(person: PersonOfIssuer, operation: Operation, body: object): Promise<unknown>;
}

/** A sign-in of people that runs in this process. */
export interface SignIn {
  /** Keys that its access tokens are verified with. */
  keySet(): Promise<JwkSet>;
  /** Whether the grant of a token (`grant_id`) was ended before its tokens expire. */
  hasEnded(grantId: string): Promise<boolean>;
  /** Answers a request whose path begins with the issuer's. Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse, visit: SignInCall): Promise<void>;
}

/** Where a service that has a sign-in offers it, and the gateway finds it. Both are in one process, or there is none. */
export class SignInRegistry {
  private offered: SignIn | undefined;

  offer(signIn: SignIn): void {
    this.offered = signIn;
  }

  get signIn(): SignIn | undefined {
    return this.offered;
  }
}
