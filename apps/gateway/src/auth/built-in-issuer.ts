import { createLocalJWKSet, type JSONWebKeySet } from 'jose';
import type { KeySet, SignInRegistry } from '@attestry/service-kit';

/** The built-in sign-in as an issuer of tokens: it runs in this process, so its keys are read, not fetched. */
export class BuiltInIssuer {
  constructor(
    readonly issuer: string,
    private readonly signIns: SignInRegistry,
  ) {}

  /** @throws Error before the sign-in is registered */
  async keySet(): Promise<KeySet> {
    const { signIn } = this.signIns;
    if (!signIn) throw new Error('the built-in sign-in has not started');
    return createLocalJWKSet((await signIn.keySet()) as unknown as JSONWebKeySet);
  }

  /** A second use of the code that the token was issued for ends it. */
  async hasEnded(grantId: string): Promise<boolean> {
    return (await this.signIns.signIn?.hasEnded(grantId)) === true;
  }
}
