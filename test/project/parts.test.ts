import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, it } from 'vitest'

const source = new URL('../../src', import.meta.url).pathname

/** Parts by level, lowest first: a part imports only files of lower levels and its own. */
const levels = [
  ['core'],
  ['skill', 'rank'],
  ['trigger', 'trust'],
  ['library', 'exec'],
  ['hooks', 'chain', 'audit', 'tools'],
  ['agent'],
  ['commands'], // the folder of this name in each part
  ['mcp', 'view', 'testing'],
  ['cli'],
  ['entries'],
]

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.ts'),
)

it('knows the level of every part', () => {
  const parts = readdirSync(source, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
  expect(parts.filter((part) => !levels.flat().includes(part))).toEqual([])
})

it('lets a part import only parts of lower levels', () => {
  expect(files.flatMap(brokenImports)).toEqual([])
})

it('lets only the agent room import the AI SDK, and only the tools and mcp rooms the MCP SDK', () => {
  const allowed: Record<string, readonly string[]> = {
    ai: ['agent'],
    '@modelcontextprotocol': ['tools', 'mcp'],
    commander: ['cli'],
    yaml: ['skill'],
  }
  const strays = files.flatMap((file) =>
    importsOf(file)
      .map((target) => target.split('/')[0] ?? '')
      .filter((name) => allowed[name] !== undefined && !allowed[name].includes(partOf(file)))
      .map((name) => `${file} imports ${name}`),
  )
  expect(strays).toEqual([])
})

it('ends the process nowhere but in the command line', () => {
  const strays = files.filter(
    (file) =>
      partOf(file) !== 'cli' &&
      file !== 'hooks/hook-main.ts' && // the entry of a process of its own
      /process\.exit(?:Code)?\b/.test(readFileSync(join(source, file), 'utf8')),
  )
  expect(strays).toEqual([])
})

function brokenImports(file: string): string[] {
  const from = partOf(file)
  return importsOf(file)
    .filter((target) => /^[.#]/.test(target))
    .map((target) =>
      target.startsWith('#')
        ? target.slice(1)
        : relative(source, resolve(source, dirname(file), target)),
    )
    .filter((target) => partOf(target) !== from && levelOf(partOf(target)) >= levelOf(from))
    .map((target) => `${file} imports ${target}`)
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(source, file), 'utf8')
  const matches = text.matchAll(/(?:from|import\(|require\(|import)\s*['"]([^'"]+)['"]/g)
  return Array.from(matches, (match) => match[1] ?? '')
}

function partOf(path: string): string {
  const [part = '', folder] = path.split('/')
  if (folder === undefined) return ''
  return folder === 'commands' && part !== 'cli' ? 'commands' : part
}

function levelOf(part: string): number {
  return levels.findIndex((level) => level.includes(part))
}
