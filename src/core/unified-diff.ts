import { createRequire } from 'node:module'
import type * as Diff from 'diff'
import { safeLine } from './text.ts'

/** Texts with more changed lines become a single block: a comparison would take minutes. */
const maxChanges = 2000

/** Returns a unified diff with three lines of context; empty for equal texts. The path is made one line. */
export function unifiedDiff(path: string, before: string, after: string): string {
  if (before === after) return ''
  const { structuredPatch }: typeof Diff = createRequire(import.meta.url)('diff')
  const options = { context: 3, maxEditLength: maxChanges }
  const { hunks } = structuredPatch('', '', before, after, '', '', options) ?? {
    hunks: [wholeHunk(before, after)],
  }
  const name = safeLine(path.replaceAll('\\', '/').replace(/^\/+/, ''))
  const lines = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines: hunkLines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...hunkLines,
  ])
  return [`--- a/${name}`, `+++ b/${name}`, ...lines].join('\n')
}

function wholeHunk(before: string, after: string): Diff.StructuredPatchHunk {
  const lines = [...markedLines('-', before), ...markedLines('+', after)]
  const count = (mark: string) => lines.filter((line) => line.startsWith(mark)).length
  return { oldStart: 1, oldLines: count('-'), newStart: 1, newLines: count('+'), lines }
}

function markedLines(mark: string, text: string): string[] {
  const lines = text.split('\n')
  const last = lines.pop()
  const diffLines = lines.map((line) => mark + line)
  return last === '' || last === undefined
    ? diffLines
    : [...diffLines, mark + last, '\\ No newline at end of file']
}
