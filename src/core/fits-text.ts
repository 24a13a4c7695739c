/** Whether a text matches a pattern, in which `*` means any characters. */
export function fitsText(text: string, pattern: string): boolean {
  const parts = pattern.split('*')
  const [first = ''] = parts
  if (!text.startsWith(first)) return false
  if (parts.length === 1) return text === first
  let from = first.length
  const last = parts.at(-1) ?? ''
  for (const part of parts.slice(1, -1)) {
    const at = text.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return text.length - last.length >= from && text.endsWith(last)
}
