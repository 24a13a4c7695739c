import { setImmediate } from 'node:timers/promises'
import { readRegularFile } from '../../base/index.ts'
import { compilePattern } from '../../trigger/index.ts'
import { AgentUsageError } from '../agent-errors.ts'
import { globFits } from '../approval/path-pattern.ts'
import type { JsonObject } from '../../tools/index.ts'
import type { AgentTool } from '../model.ts'
import { createFence, type Ground, placeOf, textOf } from './place.ts'
import { type WalkedFile, walkFiles, walkStopped } from './walk-files.ts'

const matchLimit = 200
const longestLine = 300
const maxSearchedBytes = 2 * 1024 * 1024
/** Files between two looks at whether the call is still wanted. */
const filesAtOnce = 100

/** Searches the lines of text files, in time linear in their size whatever the pattern. */
export function searchTool(ground: Ground): AgentTool {
  const pathOf = (input: JsonObject): string => textOf(input, 'path')
  const fence = createFence(ground, pathOf, 'read')
  return {
    name: 'search',
    aliases: ['Grep'],
    description:
      'Finds lines in text files that match a regular expression (RE2, without look-around), or that ' +
      `contain a text. Gives path:line:text, at most ${matchLimit} lines.`,
    inputSchema: {
      type: 'object',
      properties: {
        pattern: { type: 'string', minLength: 1 },
        path: { type: 'string', description: 'A file or directory; default: the project.' },
        glob: { type: 'string', description: 'Only files whose path fits, such as **/*.ts.' },
        literal: { type: 'boolean', description: 'The pattern is a text; default false.' },
        ignore_case: { type: 'boolean' },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    readOnly: true,
    origin: { kind: 'built-in' },
    patternText: (input) => placeOf(pathOf(input), ground).shown,
    patternKind: 'tree',
    alwaysAsk: fence.alwaysAsk,
    async execute(input, { signal }) {
      const { real, shown } = fence.enter(input)
      const test = tester(
        textOf(input, 'pattern'),
        input['literal'] === true,
        input['ignore_case'] === true,
      )
      const glob = textOf(input, 'glob')
      const lines: string[] = []
      let looked = 0
      let stopped = false
      const walk = files(real, shown, () => {
        stopped = true
      })
      for (const { path, relative } of walk) {
        if (++looked % filesAtOnce === 0) await setImmediate()
        signal.throwIfAborted()
        const name = path === real || shown === '.' ? relative : `${shown}/${relative}`
        if (glob !== '' && !globFits(relative, glob)) continue
        lines.push(...matchesIn(path, path === real ? shown : name, test))
        if (lines.length > matchLimit) break
      }
      if (lines.length > matchLimit) {
        return [...lines.slice(0, matchLimit), '[There are more matches: ask for less.]'].join('\n')
      }
      const found = lines.length === 0 ? ['No line matches.'] : lines
      return [...found, ...(stopped ? [walkStopped] : [])].join('\n')
    },
  }
}

function files(real: string, shown: string, stopped: () => void): Generator<WalkedFile> {
  try {
    return walkFiles(real, stopped)
  } catch {
    throw new AgentUsageError({ code: 'path-missing', message: `${shown} does not exist.` })
  }
}

type LineTest = (line: string) => boolean

function tester(pattern: string, literal: boolean, ignoreCase: boolean): LineTest {
  if (literal) {
    const wanted = ignoreCase ? pattern.toLowerCase() : pattern
    return (line) => (ignoreCase ? line.toLowerCase() : line).includes(wanted)
  }
  const reading = compilePattern(ignoreCase ? `(?i)${pattern}` : pattern)
  if (reading.ok) return reading.pattern.test
  throw new AgentUsageError({
    code: 'pattern-invalid',
    message: `The pattern ${pattern} cannot be used: ${reading.problem.message}`,
    hint: 'Set literal to true to search for it as a text.',
  })
}

function matchesIn(path: string, name: string, test: LineTest): string[] {
  const reading = readRegularFile(path, { maxBytes: maxSearchedBytes, followSymlinks: false })
  if (!reading.ok || reading.bytes.includes(0)) return []
  const found: string[] = []
  for (const [index, line] of reading.text.split('\n').entries()) {
    if (!test(line)) continue
    found.push(`${name}:${index + 1}:${line.slice(0, longestLine)}`)
    if (found.length > matchLimit) break
  }
  return found
}
