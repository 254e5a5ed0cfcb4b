import { getMetadataStorage } from 'class-validator';
import type { DtoClass } from './operation.js';

/** One decorator of class-validator on one member. */
export interface DeclaredRule {
  propertyName: string;
  type: string;
  name?: string;
  constraints?: unknown[];
  each?: boolean;
  message?: unknown;
  groups?: unknown[];
  always?: boolean;
  context?: unknown;
  validateIf?: unknown;
  constraintCls: new () => unknown;
}

/** Rules of a class, then those it inherits, in the order in which they are evaluated. */
export const rulesOf = (dto: DtoClass): DeclaredRule[] =>
  getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false) as unknown as DeclaredRule[];
