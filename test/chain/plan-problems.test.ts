import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Diagnostic } from '../../src/core/errors.ts'
import { commandsIn } from './_command.ts'
import { asAnother, isThereAnother, withoutAnother } from './_other-user.ts'
import { makeProject, type ProjectSkill, type TestProject } from './_project.ts'

let project: TestProject
beforeEach(() => {
  project = makeProject()
})
afterEach(() => {
  for (const path of locked.splice(0)) chmodSync(path, 0o755)
  project.remove()
})

const { command, skills } = commandsIn(() => project)
const locked: string[] = []
const at = (path: string): string => join(project.directory, '.skillrail/skills', path)
const chainOf = (names: string): ProjectSkill => ({ metadata: [`chain: "${names}"`] })
const script: ProjectSkill = { run: 'true' }

function linkToItself(path: string): void {
  rmSync(at(path), { recursive: true, force: true })
  mkdirSync(dirname(at(path)), { recursive: true })
  symlinkSync(path.slice(path.lastIndexOf('/') + 1), at(path))
}

async function problems(): Promise<(readonly [string, number | undefined])[]> {
  const { error } = await command('run main')
  return (error?.diagnostics ?? []).map(({ code, line }) => [code, line])
}

describe('the errors of a plan', () => {
  it.each(['gone', 'gone lost'])(
    'have a place and a code in the error of run: %s',
    async (names) => {
      skills({ main: chainOf(names) })
      const { error } = await command('run main')
      expect(error?.exitCode).toBe(3)
      const expected = names.split(' ').map((name) => ({
        code: 'step-missing',
        message: expect.stringContaining(name),
        path: '.skillrail/skills/main/SKILL.md',
        line: 5,
      }))
      expect(error?.diagnostics).toMatchObject(expected)
    },
  )

  it.each<[string, string, ProjectSkill, readonly unknown[]]>([
    ['a list in a list', 'a', { metadata: ['chain: [a,[b]]'] }, [['chain-step-form', 5]]],
    ['a map', 'a', { metadata: ['chain: {a: b}'] }, [['field-type', 5]]],
    ['an empty name', 'a', { metadata: ["chain: ['']"] }, [['chain-step-form', 5]]],
    ['a name that leads out', 'a', chainOf('a ../audit'), [['chain-step-name', 5]]],
    ['a backslash', 'a', { metadata: ["chain: 'a a\\b'"] }, [['chain-step-name', 5]]],
    ['a step twice', 'x', chainOf('x x'), [['field-type', 5]]],
    ['a script outside', 'a', { metadata: ['run: ../x'] }, [['path-outside', 5]]],
    ['a script that is gone', 'a', { metadata: ['run: x'] }, [['script-missing', undefined]]],
  ])('report one cause once: %s', async (_what, other, main, expected) => {
    skills({ main, [other]: other === 'x' ? { metadata: ['chain: {a: b}'] } : script })
    expect(await problems()).toEqual(expected)
  })

  it('report two scripts once', async () => {
    skills({ main: script })
    writeFileSync(at('main/scripts/run.py'), '')
    expect(await problems()).toEqual([['script-ambiguous', undefined]])
  })

  it('include ignored parts that are the reason why nothing runs', async () => {
    skills({ main: {} })
    const head = 'name: main\ndescription: Does it. Use when testing.\nchain: [a]\nasync: true'
    writeFileSync(at('main/SKILL.md'), `---\n${head}\n---\nDo it.\n`)
    const placed = ['field-placement', 'unknown-field', 'no-executor']
    expect((await problems()).map(([code]) => code)).toEqual(placed)
  })
})

describe('a warning about a part without effect', () => {
  it.each<[string, string, string]>([
    ['metadata:\n  chain: a', 'script-beside-chain', 'scripts/run.sh'],
    ['metadata:\n  timeout: "5"', 'policy-without-chain', '`timeout`'],
    ['async: true', 'unknown-field', '`async`'],
    ['chain: a', 'field-placement', '`chain`'],
  ])('is printed by a run: %s', async (fields, code, named) => {
    skills({ main: script, a: script })
    const head = `name: main\ndescription: Does it. Use when testing.\n${fields}`
    writeFileSync(at('main/SKILL.md'), `---\n${head}\n---\nDo it.\n`)
    const { json } = await command('chain plan main --json')
    const message: unknown = expect.stringContaining(named)
    expect(json.diagnostics).toMatchObject([{ code, message, severity: 'warning' }])
    const { code: ended, notes } = await command('run main')
    expect([ended, notes.includes(code)]).toEqual([0, true])
  })

  it('is not printed for a chain with its policy', async () => {
    skills({ main: { metadata: ['chain: a', 'async: "true"'] }, a: script })
    expect((await command('chain plan main --json')).json.diagnostics).toEqual([])
  })
})

describe('a link that leads to itself', () => {
  it.each([
    ['step', 'step-unreadable'],
    ['step/SKILL.md', 'step-unreadable'],
    ['step/scripts', 'script-unreadable'],
    ['step/scripts/run', 'script-unreadable'],
    ['step/scripts/verify', 'script-unreadable'],
  ])('is an error of the plan: %s', async (path, code) => {
    const other = path.startsWith('step/scripts/verify') ? script : {}
    skills({ main: chainOf('step'), step: other })
    linkToItself(path)
    const { error } = await command('run main')
    const message: unknown = expect.stringContaining('circular')
    expect(error?.diagnostics).toMatchObject([{ code, message }])
    expect(error?.exitCode).toBe(3)
  })

  it.each(['main', 'main/SKILL.md'])('makes a requested skill unreadable: %s', async (path) => {
    skills({ main: script })
    linkToItself(path)
    const { error } = await command('run .skillrail/skills/main')
    expect(error).toMatchObject({ code: 'skill-unreadable', exitCode: 3 })
  })

  it('is reported if all skills are in it', async () => {
    rmSync(at(''), { recursive: true, force: true })
    mkdirSync(join(project.directory, '.skillrail'), { recursive: true })
    symlinkSync('skills', join(project.directory, '.skillrail/skills'))
    const { error } = await command('run main')
    expect(error?.exitCode).toBe(3)
    expect(error?.diagnostics).toMatchObject([{ code: 'directory-unreadable' }])
  })
})

it('reports a script that is a broken link as missing', async () => {
  skills({ main: {} })
  mkdirSync(at('main/scripts'))
  symlinkSync('nothing', at('main/scripts/run'))
  expect(await problems()).toEqual([['script-missing', undefined]])
})

it('reports a name that is too long for the disk as an error of the plan', async () => {
  const name = 'a'.repeat(300)
  skills({ main: chainOf(name) })
  expect(await problems()).toEqual([['step-unreadable', 5]])
  expect((await command(`run ${name}`)).error).toMatchObject({ exitCode: 3 })
})

describe.skipIf(!isThereAnother)(`an unreadable path${withoutAnother}`, () => {
  function diagnosticsOf(path: string, reference = 'main'): Diagnostic[] {
    locked.push(at(path))
    chmodSync(at(path), 0)
    const { stdout, status } = asAnother(project, ['run', reference, '--json'])
    expect(status).toBe(3)
    const answer: { error: { message: string }; diagnostics?: Diagnostic[] } = JSON.parse(stdout)
    const { message } = answer.error
    return answer.diagnostics ?? [{ code: '', severity: 'error', path: '', message }]
  }

  it.each([
    ['step', 'step-unreadable'],
    ['step/scripts', 'script-unreadable'],
    ['step/scripts/run.sh', 'script-unreadable'],
    ['step/SKILL.md', 'file-unreadable'],
  ])('is an error with exit code 3: %s', (path, code) => {
    skills({ main: chainOf('step'), step: script })
    const message: unknown = expect.stringContaining('cannot be read')
    expect(diagnosticsOf(path)).toMatchObject([{ code, message }])
  })

  it('is reported for a script without an extension', () => {
    skills({ main: {} })
    mkdirSync(at('main/scripts'))
    writeFileSync(at('main/scripts/run'), '#!/bin/sh\n', { mode: 0o755 })
    expect(diagnosticsOf('main/scripts/run')).toMatchObject([{ code: 'script-unreadable' }])
  })

  it.each(['closed', '.skillrail/skills/closed'])(
    'is reported for the skill itself: %s',
    (reference) => {
      skills({ closed: script })
      const message: unknown = expect.stringContaining('cannot be read: permission is denied')
      expect(diagnosticsOf('closed', reference)).toMatchObject([{ message }])
    },
  )

  it('counts as empty in the search for deeper skills', () => {
    skills({ main: chainOf('deep other'), closed: script, 'x/deep': script })
    const message: unknown = expect.stringContaining('other')
    expect(diagnosticsOf('closed')).toMatchObject([{ code: 'step-missing', message }])
  })
})
