import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import type { Format, FormatMetadata } from '../../formats/format.js';
import { scopeFor } from '../../settings/credential-configuration/scope.js';

/** All that the issuer metadata publish of a configuration, in `credential_configurations_supported` and in `credentials_supported`. */
export const publishedMembers = (configuration: ActiveConfiguration, module: Format): FormatMetadata => {
  const { id, format, type } = configuration;
  const described = { format, id, scope: scopeFor({ format, type }) };
  const { supported, legacy } = module.metadataOf(configuration);
  return { supported: { ...described, ...supported }, legacy: { ...described, ...legacy } };
};
