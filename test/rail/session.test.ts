import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { addRail, changeRail, readRail, removeRail } from '../../src/rail/session.ts'
import { makeRail, runtimeIn, temporaryHome } from './_state.ts'

it('adds one rail to a session, and does not restore a rail that has ended', () => {
  const runtime = runtimeIn(temporaryHome())
  expect(addRail(runtime, makeRail())).toBe(true)
  expect(addRail(runtime, { ...makeRail(), chain: 'other' })).toBe(false)
  expect(readRail(runtime, 's1')).toMatchObject({ rail: { chain: 'release' } })
  removeRail(runtime, 's1')
  expect(changeRail(runtime, 's1', (rail) => ({ ...rail, reason: 'late' }))).toBeUndefined()
  expect(readRail(runtime, 's1')).toEqual({ kind: 'none' })
})

it('keeps the previous state if a change fails', () => {
  const home = temporaryHome()
  const runtime = runtimeIn(home)
  addRail(runtime, makeRail())
  const fail = (): never => {
    throw new Error('stop')
  }
  expect(() => changeRail(runtime, 's1', fail)).toThrow('stop')
  expect(changeRail(runtime, 's1', () => undefined)).toEqual(makeRail())
  expect(existsSync(join(home, '.local/state/skillrail/rails'))).toBe(true)
})
