import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseCommandLine } from '../../src/cli/command-line.ts'
import { commands } from '../../src/cli/registry.ts'
import { pageText } from '../../src/view/page-text.ts'

const folder = new URL('../../src/view/page', import.meta.url).pathname
const sources = readdirSync(folder)
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const)

describe('the page', () => {
  let text: string
  beforeAll(async () => {
    text = await pageText()
  })

  it('is one document that loads nothing', () => {
    expect(text.match(/<script>/g)).toHaveLength(1)
    expect(text.match(/<style>/g)).toHaveLength(1)
    expect(text).not.toMatch(/<(?:script|link|img|iframe)[^>]*(?:src|href)=(?!"data:)/)
    expect(text).not.toMatch(/@import|url\(/)
    // Names of XML and its dialects, which nothing asks for.
    const addresses = text.match(/https?:\/\/[^\s'"`]+/g) ?? []
    expect(addresses.filter((one) => !one.startsWith('http://www.w3.org/'))).toEqual([])
  })

  it('is small', () => {
    expect(text.length).toBeLessThan(80_000)
  })
})

const lines = sources.flatMap(([name, source]) =>
  [...source.matchAll(/line="skillrail ([^"]+)"/g)].map(([, line = '']) => [line, name] as const),
)

it('contains command lines', () => {
  expect(lines.length).toBeGreaterThan(5)
})

it.each(lines)('says to type skillrail %s, which the command line takes (%s)', async (line) => {
  const words = line.split(' ')
  const names = [3, 2, 1].map((count) => words.slice(0, count).join(' '))
  const entry = names.flatMap((name) => commands.find((one) => one.name === name) ?? [])[0]
  if (entry === undefined) throw new Error('there is no such command')
  const command = await entry.load()
  expect(parseCommandLine(entry, command, words)).toMatchObject({ kind: 'run' })
})

describe.each(sources)('%s', (_, source) => {
  it('turns no text into markup or into an address', () => {
    expect(source).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function|srcdoc|\.src\b|createContextualFragment/,
    )
    expect(source).not.toMatch(/setAttribute\('(?:style|on\w+|src)/)
  })
})
