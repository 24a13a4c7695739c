/**
 * A skill that a person names: `/name arguments`, the arguments to the end of the prompt. Anything
 * else, and a name that no skill has, is a prompt like any other.
 */
export function typedSkill(
  prompt: string,
  names: readonly string[],
): { name: string; argumentText: string } | undefined {
  const match = /^\s*\/([\p{L}\p{N}][\p{L}\p{N}:-]*)(?:\s+([\s\S]*))?$/u.exec(prompt)
  const name = match?.[1]
  if (name === undefined || !names.includes(name)) return undefined
  return { name, argumentText: (match?.[2] ?? '').trim() }
}
