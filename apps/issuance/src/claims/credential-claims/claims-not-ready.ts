/** The claims of a credential are not available yet: the wallet may request it again later. */
export class ClaimsNotReady extends Error {
  override readonly name = 'ClaimsNotReady';
}
