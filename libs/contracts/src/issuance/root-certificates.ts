import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsString, MaxLength } from 'class-validator';
import { combine, Unique } from '../validators.js';

const MAX_ROOT_CERTIFICATES = 10;
/** Characters of one in PEM. */
const MAX_ROOT_CERTIFICATE = 4096;

/** 1 to `max` different strings of at most `maxLength` characters. */
export const Texts = (max: number, maxLength: number): PropertyDecorator =>
  combine(
    IsArray({ message: 'must be an array' }),
    ArrayNotEmpty({ message: 'must not be empty' }),
    ArrayMaxSize(max, { message: `must have at most ${max} entries` }),
    Unique(),
    IsString({ each: true, message: 'must contain only strings' }),
    MaxLength(maxLength, { each: true, message: `must contain only strings of at most ${maxLength} characters` }),
  );

export const RootCertificates = (): PropertyDecorator => Texts(MAX_ROOT_CERTIFICATES, MAX_ROOT_CERTIFICATE);
