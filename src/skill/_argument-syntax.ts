/** Characters of the longest name. */
export const longestArgumentName = 64

/** The names that `arguments` may declare. */
export const argumentNamePattern: RegExp = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/** `$ARGUMENTS` is the whole text and cannot be declared. */
export const reservedArgumentName = 'ARGUMENTS'
