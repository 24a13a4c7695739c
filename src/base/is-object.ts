/**
 * Whether a value read from JSON, YAML or TOML is a map of names to values: no list, and not null. Where
 * the type of the value does not say what its members are, but its source does, they are named:
 * `isObject<JsonValue>(document)`.
 */
export function isObject<Member = unknown>(
  value: unknown,
): value is Readonly<Record<string, Member>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
