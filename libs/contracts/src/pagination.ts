import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';

const toInteger = ({ value }: { value: unknown }) =>
  typeof value === 'string' && /^-?\d{1,9}$/.test(value) ? Number(value) : value;

/** `limit` 1 to 1000, default 100; `cursor` as returned in `nextCursor`. */
export class PageQuery {
  @IsOptional()
  @Transform(toInteger)
  @IsInt({ message: 'must be an integer' })
  @Min(1, { message: 'must be at least 1' })
  @Max(1000, { message: 'must be at most 1000' })
  limit?: number;

  @IsOptional()
  @IsString({ message: 'must be a string' })
  @MaxLength(1024, { message: 'Invalid value' })
  cursor?: string;
}

/** The envelope of every list. */
export interface PageOf<T> {
  data: T[];
  /** Absent on the last page. */
  nextCursor?: string;
}
