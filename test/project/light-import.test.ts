import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

const entry = new URL('../../src/entries/index.ts', import.meta.url).href

it('loads nothing heavy with the root import', () => {
  const program = `
    const { registerHooks } = await import('node:module')
    const loaded = []
    registerHooks({ resolve(name, context, next) { loaded.push(name); return next(name, context) } })
    await import(${JSON.stringify(entry)})
    console.log(JSON.stringify(loaded.filter((name) => !/^[./#]|^node:|^file:/.test(name))))`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  })
  // The parser of js-yaml is part of reading a skill.
  expect(JSON.parse(stdout)).toEqual(['js-yaml'])
})
