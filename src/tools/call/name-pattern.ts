/** Whether the name is the pattern, in which `*` stands for any characters. Linear. */
export function matchesName(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name === first
  if (!name.startsWith(first) || name.length < first.length + last.length) return false
  let from = first.length
  const end = name.length - last.length
  for (const part of rest) {
    const found = name.indexOf(part, from)
    if (found < 0 || found + part.length > end) return false
    from = found + part.length
  }
  return name.endsWith(last)
}
