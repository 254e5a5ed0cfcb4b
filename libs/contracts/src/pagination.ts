import { IsInt, IsString, Max, MaxLength, Min } from 'class-validator';
import { CURSOR_PATTERN } from './patterns.js';
import { Keywords, Normalize, Optional } from './validators.js';

const toInteger = (value: unknown) => (typeof value === 'string' && /^-?\d{1,9}$/.test(value) ? Number(value) : value);

/** `limit` 1 to 1000, default 100. */
export const PageLimit = (): PropertyDecorator => (target, key) => {
  Optional()(target, key);
  Normalize(toInteger)(target, key);
  IsInt({ message: 'must be an integer' })(target, key as string);
  Min(1, { message: 'must be at least 1' })(target, key as string);
  Max(1000, { message: 'must be at most 1000' })(target, key as string);
};

/** `cursor`, a value of `nextCursor`. */
export const PageCursor = (): PropertyDecorator => (target, key) => {
  Optional()(target, key);
  IsString({ message: 'must be a string' })(target, key as string);
  MaxLength(1024, { message: 'must have at most 1024 characters' })(target, key as string);
  Keywords({ pattern: CURSOR_PATTERN.source })(target, key);
};

export class PageQuery {
  /** Maximum number of entries of the page. Default 100. A page also ends before its entries have more than 512 KB. */
  @PageLimit() limit?: number;
  /** `nextCursor` of the previous page. Absent for the first page. */
  @PageCursor() cursor?: string;
}

/** The envelope of every list. */
export interface PageOf<T> {
  data: T[];
  /** Absent on the last page. */
  nextCursor?: string;
}
