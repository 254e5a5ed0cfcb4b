import { createLocalJWKSet, type JSONWebKeySet } from 'jose';
import type { SignInDesk } from '@attestry/service-kit';
import type { KeySet } from './oidc-issuer.js';

/** The built-in sign-in as an issuer of tokens: in this process, so its keys are asked for, not fetched. */
export class BuiltInIssuer {
  constructor(
    readonly issuer: string,
    private readonly desk: SignInDesk,
  ) {}

  /** @throws Error before the sign-in is there */
  async keySet(): Promise<KeySet> {
    const { signIn } = this.desk;
    if (!signIn) throw new Error('the built-in sign-in has not started');
    return createLocalJWKSet((await signIn.keySet()) as unknown as JSONWebKeySet);
  }
}
