/** For an option that may be repeated: its values, in the order in which they are given. */
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value]
}
