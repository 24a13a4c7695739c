import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { forgetSessions, openSession } from '../../src/tools/workflow/session.ts'
import { settings, temporaryProject, testRuntime } from './helpers.ts'

it('deletes only the sessions without a name that no process wrote to for a day', () => {
  const project = temporaryProject()
  const runtime = testRuntime()
  const hour = 3_600_000
  const fileOf = (id: string, hours: number): string => {
    const { path } = openSession({ project, runtime, settings, id })
    mkdirSync(dirname(path), { recursive: true })
    for (const each of [path, path.replace(/json$/, 'calls.jsonl')]) {
      writeFileSync(each, '')
      const at = (runtime.now() - hours * hour) / 1000
      utimesSync(each, at, at)
    }
    return path
  }
  const over = fileOf('mcp-0mwru6cayk6g3w', 25)
  const kept = [
    fileOf('mcp-0mwru6cayk6g3x', 23),
    fileOf('mcp-of-mine', 25),
    fileOf('0mwru6cayk6g3w', 25),
  ]
  forgetSessions({ project, runtime, settings }, 'mcp-')
  expect(existsSync(over)).toBe(false)
  expect(existsSync(over.replace(/json$/, 'calls.jsonl'))).toBe(false)
  expect(kept.filter((path) => existsSync(path))).toEqual(kept)
})

it('does nothing without sessions', () => {
  const project = temporaryProject()
  expect(() => forgetSessions({ project, runtime: testRuntime(), settings }, 'mcp-')).not.toThrow()
})
