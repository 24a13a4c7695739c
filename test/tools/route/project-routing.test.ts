import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemRuntime } from '../../../src/core/runtime.ts'
import { keepRouting, readRouting } from '../../../src/tools/route/project-routing.ts'
import { learnExample } from '../../../src/tools/route/learned-store.ts'
import { loadToolIndex } from '../../../src/tools/cache/load.ts'
import { projectRouter } from '../../../src/tools/route/project-router.ts'
import { refreshToolIndex } from '../../../src/tools/cache/refresh.ts'
import type { ToolDefinition } from '../../../src/tools/model.ts'
import { tools } from './_tools.ts'

const definitions: readonly ToolDefinition[] = tools.map(
  ({ id, server, name, description, parameters }) => ({
    id,
    server,
    name,
    description,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(parameters.map((parameter) => [parameter, {}])),
    },
  }),
)
const vocabulary = tools.flatMap(({ name, description }) => [
  name,
  ...name.split('_'),
  ...description.split(' '),
])
const request = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 100 }),
  fc.array(fc.constantFrom(...vocabulary), { maxLength: 12 }).map((words) => words.join(' ')),
)

let base: string
let place: { project: string; runtime: ReturnType<typeof systemRuntime> }

beforeEach(async () => {
  base = mkdtempSync(path.join(tmpdir(), 'skillrail-routing-'))
  const project = path.join(base, 'project')
  mkdirSync(project)
  place = {
    project,
    runtime: systemRuntime({ env: {}, cwd: project, home: path.join(base, 'home') }),
  }
  await refreshToolIndex({
    ...place,
    pool: { list: () => Promise.resolve({ tools: definitions, failures: [] }) },
    servers: [...new Set(tools.map(({ server }) => server))].map((name) => ({
      name,
      digest: `sha256:${name}`,
      trusted: true,
    })),
  })
})

afterEach(() => {
  rmSync(base, { recursive: true, force: true })
})

describe('a project’s kept routing', () => {
  it('routes and explains as the tool index does', async () => {
    writtenExample('github__list_issues', 'what is still broken')
    await learnExample(place, { request: 'which bugs are open', tool: 'github__list_issues' })
    await learnExample(place, { request: 'open the page', tool: 'devtools__click', wrong: true })
    keepRouting(place)
    const kept = readRouting(place)
    const { index } = loadToolIndex(place)
    if (kept === undefined || index === undefined) throw new Error('nothing was kept')
    const { router } = projectRouter(index, place)
    expect(kept.tools).toEqual(index.tools.map(({ id }) => id))
    expect(kept.tools.map(kept.definition)).toEqual(kept.tools.map((id) => index.definition(id)))
    const requests = ['which bugs are open', 'what is still broken', 'open the page']
    for (const text of requests)
      expect(plain(kept.router.route(text))).toEqual(plain(router.route(text)))
    fc.assert(
      fc.property(request, (text) => {
        expect(kept.router.route(text)).toEqual(router.route(text))
        expect(kept.router.explain(text)).toEqual(router.explain(text))
      }),
      { numRuns: 60 },
    )
  })

  it('is not there before it was kept', () => {
    expect(readRouting(place)).toBeUndefined()
  })

  it('ends with any change of the tool cache, and is made anew', () => {
    keepRouting(place)
    const before = readRouting(place)?.tools
    appendFileSync(path.join(place.project, '.skillrail', 'tools.json'), '\n')
    expect(readRouting(place)).toBeUndefined()
    keepRouting(place)
    expect(readRouting(place)?.tools).toEqual(before)
  })

  it.each([
    ['cut off', (text: string) => text.slice(0, -20)],
    ['empty', () => ''],
    ['of another format', (text: string) => text.replace('routing-2', 'routing-0')],
    ['no JSON', (text: string) => `${text.slice(0, -2)}x}`],
    [
      'of fewer tools',
      (text: string) =>
        text.replace(/\n\[\["[^\n]+\n(?=\{)/, (line) => `\n[]${' '.repeat(line.length - 4)}\n`),
    ],
  ])('is ignored where its file is %s', (_name, change) => {
    keepRouting(place)
    const file = routingFile()
    const text = readFileSync(file, 'utf8')
    expect(change(text)).not.toBe(text)
    writeFileSync(file, change(text))
    expect(readRouting(place)).toBeUndefined()
  })

  it('is not kept of a tool cache that something is wrong with', () => {
    writeFileSync(path.join(place.project, '.skillrail', 'tools.json'), '{')
    keepRouting(place)
    expect(readRouting(place)).toBeUndefined()
  })
})

function plain(value: object): unknown {
  return JSON.parse(JSON.stringify(value))
}

function routingFile(): string {
  const cache = path.join(base, 'home', '.cache', 'skillrail', 'tools')
  return path.join(cache, readdirSync(cache)[0] ?? '', 'routing.txt')
}

/** As a person adds one to the file. */
function writtenExample(id: string, phrase: string): void {
  const file = path.join(place.project, '.skillrail', 'tools.json')
  const text = readFileSync(file, 'utf8')
  const changed = text.replace(`"id": "${id}",`, `"id": "${id}", "examples": ["${phrase}"],`)
  expect(changed).not.toBe(text)
  writeFileSync(file, changed)
}
