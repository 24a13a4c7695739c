/**
 * A value that only its maker changes. It stands in for getters where a delegation makes the value:
 * an object with a getter of its own gets a hidden class of its own, which keeps everything that the
 * getter can see until the next full collection.
 */
export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }
