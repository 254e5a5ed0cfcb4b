import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JwkSet, Operation } from '@attestry/contracts';

/** A person, as an access token describes them. */
export interface PersonOfIssuer {
  issuer: string;
  subject: string;
  email?: string;
  emailVerified: boolean;
  name?: string;
}

/** Context of a request for a page of the sign-in, and its calls through the gateway. */
export interface SignInCall {
  requestId: string;
  /** Key by which attempts are counted. */
  address: string;
  /**
   * Calls an operation as this person, as if they had called the API with an access token of theirs.
   * @throws AppError
   */
  call(person: PersonOfIssuer, operation: Operation, body: object): Promise<unknown>;
}

/** A sign-in of people that runs in this process. */
export interface SignIn {
  /** Keys that verify its access tokens. */
  keySet(): Promise<JwkSet>;
  /** Whether the grant of a token (`grant_id`) was revoked before its tokens expire. */
  hasEnded(grantId: string): Promise<boolean>;
  /** Handles a request whose path begins with the issuer's. Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse, visit: SignInCall): Promise<void>;
}

/** Registry of the sign-in, by which the gateway finds it. Both run in one process, or there is none. */
export class SignInRegistry {
  private offered: SignIn | undefined;

  offer(signIn: SignIn): void {
    this.offered = signIn;
  }

  get signIn(): SignIn | undefined {
    return this.offered;
  }
}
