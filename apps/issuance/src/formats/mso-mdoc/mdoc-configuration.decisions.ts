import type {
  Duration,
  ElementMapping,
  ErrorDetail,
  MobileBranding,
  MobileConfiguration,
  MobileConfigurationRequest,
  StatusMechanism,
  TimeMapping,
} from '@attestry/contracts';
import {
  ELEMENT_TYPES,
  elementFault,
  longestMdocLifetimeDays,
  MDL_NAMESPACE,
  missingMdlElements,
  standardElement,
  standardValueFault,
  type ElementType,
} from '@attestry/cose';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import type { ConfigurationContent } from '../../settings/credential-configuration/credential-configuration.events.js';
import { namespaceMappingFaults, pathFault } from '../claim-mappings.decisions.js';
import { expiresTooSoon, lifetimeFault } from '../credential-times.js';
import { displayFaults, imageUrlFault, type DisplayDefaults } from '../display.decisions.js';
import { isObject } from '../../reading/raw-request/raw-request.js';
import { refusedNameFault } from '../reserved-names.js';
import { present, storedApproval } from '../vc-configuration.decisions.js';

/** Mapping by element identifier, by namespace. */
export type NamespaceMappings = Record<string, Record<string, ElementMapping>>;

export interface MdocContent extends ConfigurationContent {
  claimMappings: NamespaceMappings;
  expiresIn: Duration;
  validFrom?: TimeMapping;
  validUntil?: TimeMapping;
  branding?: MobileBranding;
  /** Absent: `status_list`. */
  statusMechanism?: Exclude<StatusMechanism, 'status_list'>;
}

const nameFault = (name: string): string | undefined => {
  if (!name.isWellFormed()) return 'must be well-formed Unicode';
  return refusedNameFault(name);
};

/** Type of an element. No standard types one without `type`. */
export const elementTypeOf = ({ type }: ElementMapping): ElementType => type ?? 'string';

const typeFault = (type: unknown, mapping: ElementMapping): string | undefined => {
  if (type !== undefined && !(ELEMENT_TYPES as readonly unknown[]).includes(type))
    return `must have one of these in type: ${ELEMENT_TYPES.join(', ')}`;
  const { defaultValue } = mapping;
  const fault = defaultValue === undefined ? undefined : elementFault(elementTypeOf(mapping), defaultValue);
  return fault && `has a defaultValue that is not of type ${elementTypeOf(mapping)}: it ${fault}`;
};

/**
 * Mappings with the types that ISO/IEC 18013-5 and the PID rulebook define for elements without one (ADR 0104). Malformed ones are returned as
 * they are.
 */
const withStandardTypes = (docType: string, claimMappings: NamespaceMappings): NamespaceMappings =>
  Object.fromEntries(
    Object.entries(claimMappings).map(([namespace, mappings]) => [
      namespace,
      isObject(mappings)
        ? Object.fromEntries(
            Object.entries(mappings).map(([element, mapping]) => [
              element,
              withStandardType(mapping, standardElement(docType, namespace, element)?.types[0]),
            ]),
          )
        : mappings,
    ]),
  );

const withStandardType = (mapping: ElementMapping, type: ElementType | undefined): ElementMapping =>
  type === undefined || !isObject(mapping) || mapping.type !== undefined ? mapping : { ...mapping, type };

/** Types and default values that a standard does not allow for their elements. */
const contradictions = (docType: string, claimMappings: NamespaceMappings): ErrorDetail[] =>
  Object.entries(claimMappings).flatMap(([namespace, mappings]) =>
    Object.entries(isObject(mappings) ? mappings : {}).flatMap(([element, mapping]): ErrorDetail[] => {
      const standard = standardElement(docType, namespace, element);
      const type: unknown = isObject(mapping) ? mapping['type'] : undefined;
      if (!standard || !(ELEMENT_TYPES as readonly unknown[]).includes(type)) return [];
      const { types, source } = standard;
      const param = `claimMappings.${namespace}.${element}`;
      if (types.includes(type as ElementType)) {
        const fault = standardValueFault(docType, namespace, element, {
          type: type as ElementType,
          value: mapping.defaultValue,
        });
        return fault
          ? [{ msg: `has a defaultValue that no document can have: it ${fault}`, param, location: 'body' }]
          : [];
      }
      const msg = `must have ${types.join(' or ')} in type, as ${source} defines, not ${type as ElementType}`;
      return [{ msg, param, location: 'body' }];
    }),
  );

/** Members that wallets display of a configuration without `display`. */
export const mdocDisplayDefaults = (type: string, branding: MobileBranding = {}): DisplayDefaults =>
  present({
    name: branding.name ?? type,
    logo: branding.issuerLogo === undefined ? undefined : { uri: branding.issuerLogo },
    description: branding.description,
    background_color: branding.backgroundColor,
    background_image: branding.watermarkImage === undefined ? undefined : { uri: branding.watermarkImage },
  }) as DisplayDefaults;

/** Every fault of a request; none needs a look-up. */
export const mdocFaults = (request: MobileConfigurationRequest): ErrorDetail[] => {
  const details: ErrorDetail[] = [];
  const fault = (param: string, msg: string, value?: unknown) =>
    details.push({ ...(value !== undefined && { value }), msg, param, location: 'body' });
  const { type, branding, claimMappings, expiresIn, includeStatus, statusMechanism } = request;

  if (type === 'VerifiableCredential') fault('type', 'must not be VerifiableCredential', type);

  for (const image of ['watermarkImage', 'issuerLogo', 'issuerIcon'] as const) {
    const msg = imageUrlFault(branding?.[image]);
    if (msg) fault(`branding.${image}`, msg);
  }
  details.push(...displayFaults(request.display, mdocDisplayDefaults(type, branding)));

  const typed = withStandardTypes(type, claimMappings);
  const faults = namespaceMappingFaults(typed, {
    nameFault,
    hasDottedNames: true,
    member: { name: 'type', fault: typeFault },
  });
  details.push(...faults, ...contradictions(type, typed));
  if (!faults.length)
    for (const element of missingMdlElements(type, claimMappings))
      fault(`claimMappings.${MDL_NAMESPACE}.${element}`, `is required: it is mandatory for ${type}`);

  if (expiresTooSoon(expiresIn)) fault('expiresIn', 'must be at least 2 hours', expiresIn);
  const tooLong = lifetimeFault(expiresIn, longestMdocLifetimeDays(type));
  if (tooLong) fault('expiresIn', tooLong, expiresIn);
  for (const time of ['validFrom', 'validUntil'] as const) {
    const mapFrom = request[time]?.mapFrom;
    const misplaced = mapFrom === undefined ? undefined : pathFault(mapFrom);
    if (misplaced) fault(time, misplaced, mapFrom);
  }
  if (statusMechanism !== undefined && !includeStatus)
    fault('statusMechanism', 'must not be used without includeStatus: true', statusMechanism);
  return details;
};

export const mdocContentOf = (request: MobileConfigurationRequest): MdocContent => {
  const { type, expiresIn, validFrom, validUntil, branding, display, maxIssuances } = request;
  const claimMappings = withStandardTypes(type, request.claimMappings);
  const { includeStatus, statusMechanism, claimSourceId } = request;
  return present({
    claimMappings,
    expiresIn: present({ ...expiresIn }),
    validFrom: validFrom && { mapFrom: validFrom.mapFrom },
    validUntil: validUntil && { mapFrom: validUntil.mapFrom },
    branding: branding && present({ ...branding }),
    display: display?.map((entry) => present({ ...entry })),
    maxIssuances,
    approval: storedApproval(request),
    revocable: includeStatus || undefined,
    claimSourceId,
    statusMechanism: statusMechanism === 'status_list' ? undefined : statusMechanism,
  }) as MdocContent;
};

export const mdocRecordOf = ({ id, type, content }: ActiveConfiguration<MdocContent>): MobileConfiguration => {
  const { revocable: includeStatus = false, statusMechanism = 'status_list', ...shown } = content;
  return { id, type, ...shown, includeStatus, ...(includeStatus && { statusMechanism }) };
};
