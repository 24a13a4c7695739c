/** Where a JSON object or list that begins at `start` ends; undefined when it is never closed. */
export function endOfJson(text: string, start: number): number | undefined {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at)
      if (end === undefined) return undefined
      at = end
    } else if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') {
      depth--
      if (depth === 0) return at + 1
    }
  }
  return undefined
}

/** The index of the closing quote. */
function endOfString(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at
  }
  return undefined
}
