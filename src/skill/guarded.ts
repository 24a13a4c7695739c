/**
 * What the library reads, or undefined for a text that is nested so deeply that its stack does not
 * suffice. Text made for it has an error in every second character; errors come without a stack
 * here, since ten thousand of those take seconds.
 */
export function guarded<T>(read: () => T): T | undefined {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
