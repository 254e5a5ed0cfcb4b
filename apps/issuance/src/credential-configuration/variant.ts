import type { CallContext, CredentialFormat, CredentialProfile } from '@attestry/contracts';
import { FORMAT_OF } from './credential-configuration.decisions.js';

/** The operations of all formats share their handlers: the last part of the operation's name is the format. */
export const formatOf = ({ operation }: CallContext): CredentialFormat => {
  const profile = operation.split('.')[2] as CredentialProfile | undefined;
  const format = profile && FORMAT_OF[profile];
  if (!format) throw new Error(`${operation} names no credential format`);
  return format;
};
