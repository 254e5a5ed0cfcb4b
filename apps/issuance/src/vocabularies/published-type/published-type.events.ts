/** A version of the type metadata of a type. The first event of a stream is version 1. It is immutable (SD-JWT VC, Type Metadata). */
export interface TypePublishedEvent {
  type: 'TypePublished';
  data: {
    vct: string;
    /** JSON text, served as these bytes. */
    document: string;
    /** Value of `vct#integrity`. */
    integrity: string;
  };
}
