import { realpathSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { gateTexts } from '../../src/chain/plan-model.ts'
import { openRunStore } from '../../src/chain/run-store.ts'
import { statusOfRun } from '../../src/chain/step-result.ts'
import { commandsIn } from './_command.ts'
import { log, makeProject, placeOf, type TestProject } from './_project.ts'

let project: TestProject
beforeEach(() => {
  project = makeProject()
})
afterEach(() => project.remove())

const { command, skills, runIdOf } = commandsIn(() => project)

it('a run whose process ended in a script is interrupted, and one of which an agent has a step waits', async () => {
  skills({
    main: { metadata: ['chain: |', '  inner', '  last'] },
    inner: { metadata: ['chain: |', '  build', '  look'] },
    build: log('build'),
    look: {},
    last: {},
  })
  await command('chain start main')
  const store = openRunStore(realpathSync(project.directory), placeOf(project))
  const journal = store.read(await runIdOf())
  const { path } = journal
  // As the process left it if it was killed: without a status.
  const killed = { ...journal, status: undefined }
  expect(statusOfRun(killed, path)).toBe('waiting')
  const inScript = { ...killed, done: new Map(), handed: new Map<string, string>() }
  expect(statusOfRun(inScript, path)).toBe('interrupted')
})

it('names what a gate asks for', () => {
  const steps = [
    { name: 'a', gate: 'signed' as const },
    { name: 'b', gate: true as const },
  ]
  const declared = steps.map((step) => ({ ...step, line: 1 }))
  expect(gateTexts({ steps: declared, gates: [] })).toEqual(['a (signed)', 'b'])
})
