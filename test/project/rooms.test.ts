import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, it } from 'vitest'

const source = new URL('../../src', import.meta.url).pathname

/** Rooms by level, lowest first; a room may import rooms of lower levels through their index. */
const levels = [
  ['base'],
  ['skill'],
  ['trigger', 'trust'],
  ['library', 'exec'],
  ['hooks', 'chain', 'workflow', 'audit'],
  ['tools'],
  ['agent'],
  ['mcp', 'view', 'testing'],
  ['cli'],
]

/** Parts of a room with an index of their own, because they are loaded only when they are used. */
const apart: Readonly<Record<string, readonly string[]>> = { 'chain/restate/index.ts': ['cli'] }

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.ts'),
)

it('keeps every room in the table of rooms', () => {
  const rooms = readdirSync(source, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
  expect(rooms.filter((room) => !levels.flat().includes(room))).toEqual([])
})

it('lets a room import only rooms of a lower level, through their index', () => {
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
      .filter((name) => allowed[name] !== undefined && !allowed[name].includes(roomOf(file)))
      .map((name) => `${file} imports ${name}`),
  )
  expect(strays).toEqual([])
})

it('ends the process nowhere but in the command line', () => {
  const strays = files.filter(
    (file) =>
      roomOf(file) !== 'cli' &&
      file !== 'hooks/hook-main.ts' && // the entry of a process of its own
      /process\.exit(?:Code)?\b/.test(readFileSync(join(source, file), 'utf8')),
  )
  expect(strays).toEqual([])
})

function brokenImports(file: string): string[] {
  const from = roomOf(file)
  return importsOf(file)
    .filter((target) => target.startsWith('.'))
    .map((target) => relative(source, resolve(source, dirname(file), target)))
    .filter((target) => roomOf(target) !== from && !isAllowed(from, target))
    .map((target) => `${file} imports ${target}`)
}

function isAllowed(from: string, target: string): boolean {
  const isPublicIndex = from === '' // src/index.ts gathers what the package exports
  const lower = isPublicIndex || levelOf(roomOf(target)) < levelOf(from)
  const isIndex = target === `${roomOf(target)}/index.ts`
  return lower && (isIndex || apart[target]?.includes(from) === true)
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(source, file), 'utf8')
  const matches = text.matchAll(/(?:from|import\(|require\(|import)\s*['"]([^'"]+)['"]/g)
  return Array.from(matches, (match) => match[1] ?? '')
}

function roomOf(path: string): string {
  return path.includes('/') ? (path.split('/')[0] ?? '') : ''
}

function levelOf(room: string): number {
  return levels.findIndex((rooms) => rooms.includes(room))
}
