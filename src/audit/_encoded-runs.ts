/** A stretch of text that nobody can read. */
export interface EncodedRun {
  offset: number
  length: number
  what: 'base64' | 'hexadecimal digits' | 'escapes'
}

/** Shorter ones are digests, identifiers and paths. */
const shortest = { base64: 200, hexadecimal: 160, escapes: 20 } as const

/** Long stretches of encoded data, in one pass. Pictures in `data:` addresses are left out. */
export function encodedRuns(text: string): EncodedRun[] {
  return [...alphabetRuns(text), ...escapeRuns(text)].toSorted((a, b) => a.offset - b.offset)
}

function alphabetRuns(text: string): EncodedRun[] {
  const runs: EncodedRun[] = []
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && isBase64(text.charCodeAt(at))) continue
    const length = at - start
    if (length >= shortest.hexadecimal) {
      const what = kindOf(text.slice(start, at))
      const isPicture = /data:(?:image|font|audio|video)\/[\w.+-]{1,40};base64,$/.test(
        text.slice(Math.max(0, start - 80), start),
      )
      if (what !== undefined && !isPicture) runs.push({ offset: start, length, what })
    }
    start = at + 1
  }
  return runs
}

function isBase64(code: number): boolean {
  return (
    (code >= 48 && code <= 57) || // 0-9
    (code >= 65 && code <= 90) || // A-Z
    (code >= 97 && code <= 122) || // a-z
    code === 43 || // +
    code === 47 // /
  )
}

/** Paths have no capitals and digits at once at this length, and rulers are one character. */
function kindOf(run: string): EncodedRun['what'] | undefined {
  if (/^(?:[0-9a-f]*|[0-9A-F]*)$/.test(run)) {
    return /[1-9]/.test(run) && /[a-f]/i.test(run) ? 'hexadecimal digits' : undefined
  }
  if (run.length < shortest.base64) return undefined
  return /[0-9]/.test(run) && /[A-Z]/.test(run) && /[a-z]/.test(run) ? 'base64' : undefined
}

/** `\x41\x42…` and `\u0041…`. */
function escapeRuns(text: string): EncodedRun[] {
  const runs: EncodedRun[] = []
  const escape = /\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|u\{[0-9a-f]{1,6}\}|[0-3][0-7]{2})/gi
  let run = { offset: 0, end: -1, count: 0 }
  const finish = (): void => {
    if (run.count < shortest.escapes) return
    runs.push({ offset: run.offset, length: run.end - run.offset, what: 'escapes' })
  }
  for (const { index, 0: written } of text.matchAll(escape)) {
    if (index === run.end) {
      run.end += written.length
      run.count++
    } else {
      finish()
      run = { offset: index, end: index + written.length, count: 1 }
    }
  }
  finish()
  return runs
}
