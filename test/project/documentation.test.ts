import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseCommandLine } from '../../src/cli/command-line.ts'
import { type CommandEntry, commands, findCommand, home } from '../../src/cli/registry.ts'
import { pages, prose, typed, wordsOf } from './_pages.ts'

const root = new URL('../..', import.meta.url).pathname
const loaded = new Map<string, Awaited<ReturnType<CommandEntry['load']>>>()

beforeAll(async () => {
  for (const entry of [home, ...commands]) loaded.set(entry.name, await entry.load())
})

describe.each(pages)('$path', ({ path, text }) => {
  it('links only to files and headings that exist', () => {
    const broken = linksIn(text).filter((target) => !leadsSomewhere(path, target))
    expect(broken).toEqual([])
  })

  it('shows only commands that the command line accepts', () => {
    const refused = typed(text).flatMap((command) => {
      const words = wordsOf(command)
      const at = words.indexOf('skillrail')
      if (at === -1 || !['npx', '--', 'skillrail'].includes(words[Math.max(at - 1, 0)] ?? '')) {
        return []
      }
      const reason = refusal(words.slice(at + 1))
      return reason === undefined ? [] : [`${command}: ${reason}`]
    })
    expect(refused).toEqual([])
  })

  it('mentions only commands and options that exist', () => {
    const spoken = [...prose(text).matchAll(/`skillrail ([^`]+)`/g)].map(([, words = '']) => words)
    expect(spoken.flatMap(unknownIn)).toEqual([])
  })
})

it('prints help that fits into 80 columns, except for what users copy', () => {
  const lines = readFileSync(join(root, 'docs/reference/commands.md'), 'utf8').split('\n')
  const copied = /^(?: {2}\$ |Usage: )/
  expect(lines.filter((line) => line.length > 80 && !copied.test(line))).toEqual([])
})

function linksIn(text: string): string[] {
  return [...prose(text).matchAll(/\]\(([^)\s]+)\)|\bsrc(?:set)?="([^"]+)"/g)]
    .map(([, target, source = '']) => target ?? source)
    .filter((target) => !/^[a-z]+:/.test(target))
}

function leadsSomewhere(path: string, target: string): boolean {
  const [file = '', anchor] = target.split('#')
  const place = file === '' ? join(root, path) : join(root, dirname(path), file)
  if (!existsSync(place)) return false
  return anchor === undefined || headingsOf(readFileSync(place, 'utf8')).includes(anchor)
}

/** Headings as a forge makes addresses of them. */
function headingsOf(text: string): string[] {
  return [...prose(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function refusal(words: readonly string[]): string | undefined {
  const argv = words[0] === '-C' ? words.slice(2) : words
  // Without a command it is the overview.
  if (argv[0] === undefined || argv[0].startsWith('-')) return undefined
  const entry = commandOf(argv)
  const command = entry === undefined ? undefined : loaded.get(entry.name)
  if (entry === undefined || command === undefined) return 'no such command'
  try {
    parseCommandLine(entry, command, argv)
    return undefined
  } catch (error) {
    return String(error)
  }
}

/** In a sentence the last word of a name may have alternatives, and arguments may be left out. */
function unknownIn(sentence: string): string[] {
  const words = wordsOf(sentence.replaceAll('|', '\u0000')).map((word) =>
    word.replaceAll('\u0000', '|'),
  )
  const alternatives = words.find((word) => word.includes('|'))?.split('|') ?? ['']
  return alternatives.flatMap((alternative) => {
    const one = words.map((word) => (word.includes('|') ? alternative : word))
    const entry = commandOf(one)
    if (entry === undefined) return isGroup(one[0]) || one[0]?.startsWith('-') ? [] : [sentence]
    const help = helpOf(entry)
    const options = one.filter((word) => word.startsWith('--') && word !== '--')
    return options
      .filter((option) => !help.includes(option))
      .map((option) => `${sentence}: ${option}`)
  })
}

function commandOf(words: readonly string[]): CommandEntry | undefined {
  const options = words.slice(0, words.indexOf('--') < 0 ? undefined : words.indexOf('--'))
  return findCommand(words.slice(0, 3), options)
}

function isGroup(name = ''): boolean {
  return commands.some((entry) => entry.name.startsWith(`${name} `))
}

function helpOf(entry: CommandEntry): string {
  const command = loaded.get(entry.name)
  if (command === undefined) return ''
  const line = parseCommandLine(entry, command, ['--help'])
  return line.kind === 'help' ? line.text : ''
}
