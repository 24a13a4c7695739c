import { statSync } from 'node:fs'
import { globFits } from '../approval/path-pattern.ts'
import { AgentUsageError } from '../agent-errors.ts'
import type { JsonObject } from '../../tools/index.ts'
import type { AgentTool } from '../model.ts'
import { createFence, type Ground, type Place, placeOf, textOf } from './place.ts'
import { sortedEntries, walkFiles, walkStopped } from './walk-files.ts'

const entryLimit = 1000

/** Lists a directory, or the files below it whose path fits a pattern. */
export function listTool(ground: Ground): AgentTool {
  const pathOf = (input: JsonObject): string => textOf(input, 'path')
  const fence = createFence(ground, pathOf, 'read')
  return {
    name: 'list',
    aliases: ['Glob', 'LS'],
    description:
      'Lists a directory; with a pattern such as **/*.ts all files below it that fit. ' +
      'Directories end in /. Not followed: links; not searched: .git and node_modules.',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'A directory; default: the project.' },
        pattern: {
          type: 'string',
          description: '`*` stands for characters of a name, `**` for any directories.',
        },
      },
      additionalProperties: false,
    },
    readOnly: true,
    origin: { kind: 'built-in' },
    patternText: (input) => placeOf(pathOf(input), ground).shown,
    patternKind: 'tree',
    alwaysAsk: fence.alwaysAsk,
    async execute(input) {
      const place = fence.enter(input)
      const pattern = textOf(input, 'pattern')
      if (statSync(place.real, { throwIfNoEntry: false })?.isDirectory() !== true) {
        throw new AgentUsageError({
          code: 'no-directory',
          message: `${place.shown} is no directory.`,
        })
      }
      return pattern === '' ? listed(place) : found(place, pattern)
    },
  }
}

function listed({ real, shown }: Place): string {
  const names = sortedEntries(real).map((entry) =>
    entry.isDirectory() ? `${entry.name}/` : entry.isSymbolicLink() ? `${entry.name}@` : entry.name,
  )
  return names.length === 0 ? `${shown} is empty.` : limited(names)
}

function found({ real, shown }: Place, pattern: string): string {
  const names: string[] = []
  let stopped = false
  const walk = walkFiles(real, () => {
    stopped = true
  })
  for (const { relative } of walk) {
    if (!globFits(relative, pattern)) continue
    names.push(shown === '.' ? relative : `${shown}/${relative}`)
    if (names.length > entryLimit) break
  }
  const text = names.length === 0 ? `No file below ${shown} fits ${pattern}.` : limited(names)
  return stopped ? `${text}\n${walkStopped}` : text
}

function limited(names: readonly string[]): string {
  if (names.length <= entryLimit) return names.join('\n')
  return [...names.slice(0, entryLimit), '[There are more: ask for less.]'].join('\n')
}
