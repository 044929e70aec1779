/** What every variant has: the text that explains it. A variant is one known way to get a signature wrong. */
export interface Variant {
  /** Stable, in kebab-case: the fault's name in reports, in the golden vectors and for `hookproof sign --as`. */
  readonly name: string;
  /** What was done, as a clause: "the digest is written as hexadecimal". */
  readonly title: string;
  /** How it comes about. */
  readonly why: string;
  /** What to do in place of it. */
  readonly fix: string;
  /** Likely enough to be tried together with variants of another kind, and on very large bodies. */
  readonly common?: true;
}

/** The body and all else that a receiver might have fed into its digest. */
export interface SigningInput {
  /** The exact bytes. */
  readonly body: Uint8Array;
  /** The secret as configured. The specification keys the HMAC with its UTF-8 bytes. */
  readonly secret: string;
  /** The API key, when there is one. */
  readonly apiKey?: string;
  /** The registered URL, when it is known. */
  readonly url?: string;
}
