import type { AuditedText } from './check-characters.ts'
import type { Findings } from './_findings.ts'

const farColumns = 500
const farLines = 200

/** Text that a reader does not reach: behind many blanks, or below many empty lines. */
export function checkLayout({ file, text, placeOf }: AuditedText, findings: Findings): void {
  let blanks = 0
  let empty = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 10) {
      empty++
      blanks = 0
    } else if (code === 32 || code === 9 || code === 13 || code === 0xa0) {
      blanks++
    } else {
      const lines = empty - 1
      if (blanks >= farColumns || lines >= farLines) {
        const message = blanks >= farColumns ? `${blanks} blanks` : `${lines} empty lines`
        findings.add('text-pushed-aside', { file, ...placeOf(at) }, `stands behind ${message}`)
      }
      blanks = 0
      empty = 0
    }
  }
}
