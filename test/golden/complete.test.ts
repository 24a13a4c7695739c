import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { commands } from '../../src/cli/registry.ts'

const records = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.txt'))
  .map((name) => readFileSync(`${import.meta.dirname}/${name}`, 'utf8'))
  .join('\n')
const lines = records.split('\n').filter((line) => line.startsWith('$ skillrail '))

/** They own stdin and stdout, so they have no text to render. */
const protocols = new Set(['hook'])

it.each(commands.map(({ name }) => name).filter((name) => !protocols.has(name)))(
  'the text of %s is recorded',
  (name) => {
    const words = `$ skillrail ${name}`
    const texts = lines.filter(
      (line) => `${line} `.startsWith(`${words} `) && !/ (?:--json|--help)\b/.test(line),
    )
    expect(texts).not.toEqual([])
  },
)
