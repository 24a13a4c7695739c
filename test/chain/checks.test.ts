import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defaultChainPolicy } from '../../src/skill/declarations.ts'
import { lostGates } from '../../src/chain/lost-gates.ts'
import { commandsIn } from './_command.ts'
import { log, makeProject, type TestProject } from './_project.ts'

let project: TestProject
beforeEach(() => {
  project = makeProject()
})
afterEach(() => project.remove())

const { command, skills } = commandsIn(() => project)

/** Starts the chain and reports its first step as done. */
async function reported(...metadata: readonly string[]) {
  skills({ main: { metadata }, write: {}, publish: log('publish') })
  const started = await command('chain start main --json')
  const { runId } = started.json
  return await command(`chain report ${runId} --step write --status success --json`)
}

describe('the check of a step that an agent does', () => {
  const chain = (line: string) => ['chain: |', `  ${line}`, '  publish', 'continue_on_error: false']

  it('runs after the report in the project, and verifies the result', async () => {
    const { code, json } = await reported(...chain('write check="echo checked >> log"'))
    expect(code).toBe(0)
    expect(json.result.attempts[0]?.steps[0]).toMatchObject({
      status: 'success',
      evidence: 'verified',
    })
    expect(project.log()).toEqual(['checked', 'publish'])
  })

  it('turns a reported success into a failure, with the end of its output', async () => {
    const { code, json } = await reported(...chain('write check="echo broken; exit 3"'))
    expect(code).toBe(1)
    const [step] = json.result.attempts[0]?.steps ?? []
    expect(step).toMatchObject({ status: 'failure', log: 'broken' })
    expect(step?.errors).toMatchObject([{ code: 'check-failed' }])
    expect(project.log()).toEqual([])
  })

  it('must pass in addition to `scripts/verify`, and comes first', async () => {
    skills({ write: { verify: 'echo verify >> log' } })
    project.write('main', { metadata: chain('write check="echo check >> log; exit 1"') })
    project.write('publish', log('publish'))
    const { runId } = (await command('chain start main --json')).json
    const done = await command(`chain report ${runId} --step write --status success --json`)
    expect(done.code).toBe(1)
    expect(project.log()).toEqual(['check'])
  })

  it('does not run for a failure that the agent reported', async () => {
    skills({ main: { metadata: chain('write check="echo checked >> log"') }, write: {} })
    project.write('publish', log('publish'))
    const { runId } = (await command('chain start main --json')).json
    const done = await command(`chain report ${runId} --step write --status failure --json`)
    expect(done.code).toBe(1)
    expect(project.log()).toEqual([])
  })
})

describe('a check that a user has not accepted', () => {
  const chain = ['chain: |', '  write check="echo ran >> log"']
  const untrusted = { workspaceTrust: 'ask' } as const

  it('keeps the chain from starting in an untrusted project', async () => {
    skills({ main: { metadata: chain }, write: {} })
    const { code } = await command('chain start main', untrusted)
    expect(code).toBe(4)
    expect(project.log()).toEqual([])
  })

  it('keeps the chain from continuing after the check was changed', async () => {
    skills({ main: { metadata: chain }, write: {} })
    expect((await command('trust --yes', untrusted)).code).toBe(0)
    const { runId } = (await command('chain start main --json', untrusted)).json
    project.write('main', { metadata: ['chain: |', '  write check="echo other >> log"'] })
    const report = `chain report ${runId} --step write --status success`
    expect((await command(report, untrusted)).code).toBe(4)
    expect((await command('chain start main', untrusted)).code).toBe(4)
    expect(project.log()).toEqual([])
  })

  it('is shown before a user accepts it', async () => {
    skills({ main: { metadata: chain }, write: {} })
    const { lines } = await command('trust --dry-run', untrusted)
    expect(lines.join('\n')).toContain('echo ran >> log')
  })
})

describe('a chain with `require_verified`', () => {
  const chain = (line: string) => ['chain: |', `  ${line}`, 'require_verified: true']

  it('refuses a success that only the agent reports', async () => {
    const { code, json } = await reported(...chain('write'))
    expect(code).toBe(1)
    expect(json.result.attempts[0]?.steps[0]?.errors).toMatchObject([{ code: 'not-verified' }])
  })

  it('accepts a success that a check verified', async () => {
    const { code } = await reported(...chain('write check=true'))
    expect(code).toBe(0)
  })
})

describe('a plan', () => {
  it.each([
    ['publish check=true', 'error'],
    ['publish max-blocks=2', 'error'],
    ['publish tools=Read', 'warning'],
    ['write max-blocks=2', 'warning'],
  ])('reports an option that has no effect: %s', async (line, severity) => {
    skills({
      main: { metadata: ['chain: |', '  write', `  ${line}`] },
      write: {},
      publish: log('publish'),
    })
    const { json } = await command('chain plan main --json')
    const found = json.diagnostics?.filter(({ code }) => code === 'step-option-unusable')
    expect(found).toMatchObject([{ severity, line: 7 }])
  })

  it('describes the calls that a guard denies, and until when', async () => {
    skills({
      main: {
        metadata: [
          'chain: |',
          '  write',
          '  publish gate guard="Bash(git push:*) mcp__hub__merge_*"',
        ],
      },
      write: {},
      publish: log('publish'),
    })
    const { lines } = await command('chain plan main')
    expect(lines.join('\n')).toContain(
      'publish: after approval; until then git push and calls of mcp__hub__merge_* are denied',
    )
  })
})

describe('a gate of a run', () => {
  const policy = defaultChainPolicy
  const chain = (gate: true | 'attended' | 'signed' | undefined) => ({
    step: '',
    skill: 'main',
    path: 'main/SKILL.md',
    trust: 'trusted' as const,
    digest: '',
    tokens: 0,
    executor: 'chain' as const,
    policy,
    steps: [
      {
        step: 'publish',
        skill: 'publish',
        path: 'publish/SKILL.md',
        trust: 'trusted' as const,
        digest: '',
        tokens: 0,
        executor: 'driven' as const,
        gate,
      },
    ],
  })

  it('is lost when a plan asks for a weaker approval', () => {
    const strengths = [undefined, true, 'attended', 'signed'] as const
    for (const [before, old] of strengths.entries()) {
      for (const [after, now] of strengths.entries()) {
        const lost = lostGates(chain(old), chain(now))
        expect(lost, `${old} to ${now}`).toEqual(after < before ? ['publish'] : [])
      }
    }
  })
})
