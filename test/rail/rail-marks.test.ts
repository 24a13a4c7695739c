import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Runtime, systemRuntime } from '../../src/core/runtime.ts'
import { railPath, railsDirectory } from '../../src/rail/place.ts'
import { openRails, statesHere, unendedRails, writeMarked } from '../../src/rail/rail-marks.ts'
import {
  addRail,
  changeRail,
  readRailsHere,
  removeRail,
  type Standing,
} from '../../src/rail/session.ts'
import { firstProcess, makeSession } from './_session.ts'
import { makeRail, temporaryHome } from './_state.ts'

/** A home with two projects; a runtime in a folder of it. */
function makeHome() {
  const home = temporaryHome()
  const at = (folder: string): Runtime => {
    const cwd = join(home, folder)
    mkdirSync(cwd, { recursive: true })
    return systemRuntime({ home, cwd, env: {} })
  }
  return {
    home,
    at,
    railIn: (folder: string) => ({ ...makeRail(), workspace: join(home, folder) }),
  }
}

const change = (runtime: Runtime, standing: Standing) =>
  changeRail(runtime, 's1', (rail) => ({ ...rail, standing }))

it('needs the state of an open rail in its project and in the folders of it, and nowhere else', () => {
  const { at, railIn } = makeHome()
  expect(statesHere(at('one'), openRails)).toEqual([])
  addRail(at('one'), railIn('one'))
  expect(statesHere(at('one'), openRails)).toHaveLength(1)
  expect(statesHere(at('one/packages/inner'), openRails)).toHaveLength(1)
  expect(statesHere(at('two'), openRails)).toEqual([])
  expect(statesHere(at('.'), openRails)).toEqual([])
})

it('does not need a rail of the home in the projects below it', () => {
  const { at, railIn } = makeHome()
  addRail(at('.'), railIn('.'))
  expect(statesHere(at('.'), openRails)).toHaveLength(1)
  expect(statesHere(at('one'), openRails)).toEqual([])
})

it('needs a rail that failed only where a user may give it up, and none that has ended', () => {
  const { at, railIn } = makeHome()
  const one = at('one')
  addRail(one, railIn('one'))
  change(one, 'failed')
  expect(statesHere(one, openRails)).toEqual([])
  expect(statesHere(one, unendedRails)).toHaveLength(1)
  expect(readRailsHere(one, unendedRails)).toMatchObject([{ rail: { standing: 'failed' } }])
  change(one, 'ended')
  expect(statesHere(one, unendedRails)).toEqual([])
  change(one, 'working')
  expect(statesHere(one, openRails)).toHaveLength(1)
})

it('follows a session whose next chain starts in another project, and forgets it at its end', () => {
  const { at, railIn } = makeHome()
  addRail(at('one'), railIn('one'))
  change(at('one'), 'ended')
  addRail(at('two'), railIn('two'))
  expect(statesHere(at('one'), openRails)).toEqual([])
  expect(statesHere(at('two'), openRails)).toHaveLength(1)
  removeRail(at('two'), 's1')
  expect(readdirSync(railsDirectory(at('two')))).toEqual([])
})

it('needs a rail in its old and in its new project if the process was killed while it wrote the state', () => {
  const { home, at } = makeHome()
  const path = railPath(at('one'), 's1')
  const kill = () => {
    throw new Error('killed')
  }
  const write = () => writeFileSync(path, '{}')
  writeMarked(path, { workspace: join(home, 'one'), reach: 'open' }, write)
  const next = { workspace: join(home, 'two'), reach: 'open' } as const
  expect(() => writeMarked(path, next, kill)).toThrow('killed')
  expect(statesHere(at('one'), openRails)).toHaveLength(1)
  expect(statesHere(at('two'), openRails)).toHaveLength(1)
})

const skills = {
  ship: { metadata: ['chain: |', '  work check="false"', '  publish guard="Bash(git push:*)"'] },
  work: { body: 'WORK ON IT.' },
  publish: { body: 'PUBLISH IT.' },
}

/** A session in the same project as a rail whose client was closed. */
async function afterClosing() {
  const session = makeSession(skills)
  await session.prompt('/ship')
  session.end(firstProcess.pid)
  session.sendAs({ kind: 'client', process: { pid: 2000, startedAt: 'noon' } })
  session.use('s2')
  return session
}

it('denies guarded calls also if the marks of a rail are missing', async () => {
  const session = await afterClosing()
  const rails = join(session.home, '.local/state/skillrail/rails')
  const marks = readdirSync(rails).filter((name) => name.includes('.open.'))
  expect(marks).toHaveLength(1)
  for (const name of marks) rmSync(join(rails, name))
  expect(await session.bash('git push')).toContain('no session continues it')
})

it('denies commands in a session of unknown origin if the folder of rails cannot be listed', async () => {
  const session = makeSession(skills, 'copilot')
  const state = join(session.home, '.local/state/skillrail')
  mkdirSync(state, { recursive: true })
  writeFileSync(join(state, 'rails'), '')
  const event = {
    hook_event_name: 'PreToolUse',
    tool_name: 'bash',
    tool_input: { command: 'git push' },
  }
  expect(JSON.stringify(await session.send(event))).toContain('deny')
})

it('reads no state of another project, such as one that is damaged', async () => {
  const session = makeSession(skills, 'copilot')
  const runtime = systemRuntime({ cwd: session.directory, home: session.home, env: session.env })
  addRail(runtime, { ...makeRail(), session: 'other', workspace: join(session.home, 'elsewhere') })
  writeFileSync(railPath(runtime, 'other'), 'damaged')
  const event = {
    hook_event_name: 'PreToolUse',
    tool_name: 'bash',
    tool_input: { command: 'git push' },
  }
  expect(JSON.stringify((await session.send(event)) ?? '')).not.toContain('deny')
})
