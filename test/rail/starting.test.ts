import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ownIdentity } from '../../src/core/file-lock.ts'
import { startingPath } from '../../src/rail/place.ts'
import { startingChain } from '../../src/rail/starting.ts'
import { runtimeIn, temporaryHome } from './_state.ts'

/** What a session reads about a start whose note has this process. */
function startOf(process: object | undefined, minutesAgo = 0): string | undefined {
  const runtime = runtimeIn(temporaryHome())
  const path = startingPath(runtime, 's1')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify({ process, chain: 'ship' }))
  const at = Date.now() / 1000 - minutesAgo * 60
  utimesSync(path, at, at)
  return startingChain(runtime, 's1')
}

describe('a note that a process starts a rail', () => {
  const own = ownIdentity()

  it('counts while that process runs', () => {
    expect(startOf(own)).toBe('ship')
  })

  it.skipIf(own.startedAt === undefined)('counts however long that process runs', () => {
    expect(startOf(own, 60)).toBe('ship')
  })

  it.each([
    ['another process has the ID now', { ...own, startedAt: '1' }],
    ['the machine was started again', { ...own, place: 'an earlier boot' }],
    ['it names no process', undefined],
    ['it names a group of processes', { ...own, pid: 0 }],
  ])('does not count if %s', (_, process) => {
    expect(startOf(process)).toBeUndefined()
  })

  it('counts for minutes only if nobody can tell whether that process still runs', () => {
    const elsewhere = { pid: own.pid, host: 'another.example', place: 'another place' }
    expect(startOf(elsewhere)).toBe('ship')
    expect(startOf(elsewhere, 60)).toBeUndefined()
    expect(startOf({ ...own, startedAt: undefined }, 60)).toBeUndefined()
  })
})
