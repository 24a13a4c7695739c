import type { AuditedText } from './check-characters.ts'
import type { Findings } from './_findings.ts'

/** What a JSON file of a skill starts, or does to whoever reads it carelessly. */
export function checkJson({ file, text, placeOf }: AuditedText, findings: Findings): void {
  for (const { index } of text.matchAll(
    /"(?:__proto__|\\u005f\\u005fproto\\u005f\\u005f)"\s{0,9}:/gi,
  )) {
    const message = 'a key that reaches the prototype of objects made from the file'
    findings.add('prototype-key', { file, ...placeOf(index) }, message)
  }
  const hooks = text.search(/"hooks"\s{0,9}:\s{0,9}[[{]/)
  if (hooks === -1 || !/"command"\s{0,9}:/.test(text)) return
  findings.add('hooks', { file, ...placeOf(hooks) }, 'declares hooks that run commands')
}
