import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Ancestry } from '../../src/core/agent-ancestry.ts'
import { SkillrailError } from '../../src/core/errors.ts'
import { projectView } from '../../src/view/project-view.ts'
import { questionFields } from '../../src/view/questions.ts'
import { makeSession } from '../rail/_session.ts'
import { runInProcess } from '../run-in-process.ts'
import { contextIn } from './_context.ts'
import { makeViewProject, type ViewProject } from './_project.ts'

let project: ViewProject
const env = { SKILLRAIL_WORKSPACE_TRUST: 'trusted', PATH: process.env['PATH'] }
beforeEach(() => {
  project = makeViewProject()
})
afterEach(() => project.remove())

const cli = async (...args: string[]) =>
  runInProcess(args, { cwd: project.directory, home: project.home, env })

/** Writes a chain whose step `deploy` has a gate, and starts a run that waits there. */
async function runToGate(
  options = 'gate',
  args: readonly string[] = [],
  runEnv: Record<string, string | undefined> = env,
): Promise<string> {
  const write = (name: string, fields: string, script?: string): void => {
    const text = `---\nname: ${name}\ndescription: Part of a release.\n${fields}---\nDo it.\n`
    project.write(`.skillrail/skills/${name}/SKILL.md`, text)
    if (script !== undefined) {
      project.write(`.skillrail/skills/${name}/scripts/run.sh`, `#!/bin/sh\n${script}\n`, 0o755)
    }
  }
  write('build', '', 'echo "built $SKILLRAIL_RUN_ID"; echo x >> built')
  write('deploy', '', 'echo deployed > deployed; echo deployed')
  write('ship', `metadata:\n  chain: |\n    build\n    deploy ${options}\n`)
  const { stdout } = await runInProcess(['run', '--json', 'ship', ...args], {
    cwd: project.directory,
    home: project.home,
    env: runEnv,
  })
  const { runId, status } = JSON.parse(stdout)
  expect(status).toBe('waiting')
  return runId
}

const person: Ancestry = { kind: 'none' }
const agent: Ancestry = { kind: 'agent', client: 'Claude Code' }
const unknown: Ancestry = { kind: 'unknown' }

interface Surroundings {
  starter?: Ancestry
  browser?: Ancestry
  more?: object
  place?: Parameters<typeof contextIn>[0]
}

function viewOf({ starter = person, browser = person, place }: Surroundings = {}) {
  const work: Promise<unknown>[] = []
  const context = contextIn(place ?? { ...project, env })
  const view = projectView(context, { starter, onWork: (rest) => void work.push(rest) })
  return {
    run: async (id: string) => view.run(questionFields({ id })),
    /** Sends a decision, and waits until the run rests. */
    async decide(question: object) {
      const answer = await view.decide(questionFields(question), { ancestry: () => browser })
      await Promise.all(work)
      return answer
    },
  }
}

/** What the page sends about the only gate of a run. */
async function shownBy(id: string, surroundings: Surroundings = {}) {
  const { gates } = await viewOf(surroundings).run(id)
  const [gate] = gates
  if (!gate) throw new Error('no gate waits')
  const { key, planDigest, stateDigest, shownDigest } = gate
  return { id, key, planDigest, stateDigest, shownDigest }
}

async function decide(
  decision: 'approve' | 'reject',
  id: string,
  surroundings: Surroundings = {},
): Promise<unknown> {
  const shown = await shownBy(id, surroundings)
  return viewOf(surroundings).decide({ ...shown, decision, ...surroundings.more })
}

/** The code and text of the error; fails if there is none. */
async function refusalOf(work: Promise<unknown>): Promise<{ code: string; text: string }> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof SkillrailError)) throw error
    return { code: error.code, text: `${error.message}\n${error.hint ?? ''}` }
  }
  throw new Error('it was not refused')
}

async function approvalsOf(runId: string): Promise<Record<string, unknown>[]> {
  const { stdout } = await cli('runs', 'show', runId, '--json')
  return JSON.parse(stdout).approvals ?? []
}

async function statusOf(runId: string): Promise<string> {
  return JSON.parse((await cli('runs', 'show', runId, '--json')).stdout).status
}

describe('the view', () => {
  it('approves a gate as it was shown, records how, and continues the run', async () => {
    const id = await runToGate()
    const { gates } = await viewOf().run(id)
    expect(gates).toMatchObject([
      {
        step: 'deploy',
        attempt: 1,
        strength: 'prompted',
        results: [{ step: 'build', status: 'success', result: `built ${id}` }],
        refusal: undefined,
      },
    ])
    expect(await decide('approve', id, { more: { reason: 'looks good' } })).toEqual({
      approved: true,
    })
    expect(await approvalsOf(id)).toMatchObject([
      {
        step: 'deploy',
        approved: true,
        channel: 'view',
        strength: 'attended',
        reason: 'looks good',
        shown: [{ step: 'build', status: 'success' }],
        shownDigest: gates[0]?.shownDigest,
      },
    ])
    expect(await statusOf(id)).toBe('success')
    expect(readFileSync(join(project.directory, 'deployed'), 'utf8')).toBe('deployed\n')
    const { gates: left } = await viewOf().run(id)
    expect(left).toEqual([])
  })

  it('names at a gate the steps that succeeded on files which have changed since', async () => {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: project.directory })
    git('init', '-q')
    const id = await runToGate()
    const view = viewOf()
    expect((await view.run(id)).onOtherFiles).toEqual([])
    project.write('src/app.js', 'changed')
    expect((await viewOf().run(id)).onOtherFiles).toEqual(['build'])
    await decide('approve', id)
    expect((await viewOf().run(id)).onOtherFiles).toEqual([])
  })

  it('rejects a gate with a reason, which ends the run', async () => {
    const id = await runToGate()
    expect(await decide('reject', id, { more: { reason: 'not on Friday' } })).toEqual({
      approved: false,
    })
    expect(await approvalsOf(id)).toMatchObject([
      { approved: false, channel: 'view', reason: 'not on Friday' },
    ])
    expect(await statusOf(id)).toBe('failure')
  })

  it('names the step that a rejection leads back to, and goes back there with the reason', async () => {
    const id = await runToGate('gate rework=build')
    const { gates } = await viewOf().run(id)
    expect(gates).toMatchObject([{ rework: 'build' }])
    const first = await shownBy(id)
    await viewOf().decide({ ...first, decision: 'reject', reason: 'build it again' })
    expect(readFileSync(join(project.directory, 'built'), 'utf8')).toBe('x\nx\n')
    expect(await statusOf(id)).toBe('waiting')
    // The first round was shown, and the second one waits now.
    const late = await refusalOf(viewOf().decide({ ...first, decision: 'approve' }))
    expect(late.code).toBe('gate-changed')
    await decide('approve', id)
    expect(await statusOf(id)).toBe('success')
  })

  it.each(['key', 'planDigest', 'stateDigest', 'shownDigest'] as const)(
    'decides nothing if the run waits for something else than was shown: %s',
    async (field) => {
      const id = await runToGate()
      const shown = await shownBy(id)
      for (const decision of ['approve', 'reject']) {
        for (const value of ['', `${shown[field]}0`]) {
          const question = { ...shown, [field]: value, decision }
          const { code, text } = await refusalOf(viewOf().decide(question))
          expect(code).toBe('gate-changed')
          expect(text).toContain('nothing was decided')
          expect(text).toContain(`skillrail runs show ${id}`)
        }
      }
      expect(await approvalsOf(id)).toEqual([])
      expect(await statusOf(id)).toBe('waiting')
    },
  )

  it('decides once: a second tab that shows the same gate is refused', async () => {
    const id = await runToGate()
    const shown = await shownBy(id)
    await viewOf().decide({ ...shown, decision: 'approve' })
    for (const decision of ['approve', 'reject']) {
      const second = await refusalOf(viewOf().decide({ ...shown, decision }))
      expect(second.code).toBe('gate-changed')
    }
    expect(await approvalsOf(id)).toHaveLength(1)
  })

  it('decides once, also if two tabs decide at the same moment', async () => {
    const id = await runToGate()
    const question = { ...(await shownBy(id)), decision: 'approve' }
    const both = await Promise.allSettled([viewOf().decide(question), viewOf().decide(question)])
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await approvalsOf(id)).toHaveLength(1)
    expect(await statusOf(id)).toBe('success')
  })

  it('decides nothing about a run that was cancelled since it was shown', async () => {
    const id = await runToGate()
    const shown = await shownBy(id)
    await cli('runs', 'cancel', id)
    for (const decision of ['approve', 'reject']) {
      const { code } = await refusalOf(viewOf().decide({ ...shown, decision }))
      expect(code).toBe('gate-changed')
    }
    expect(await approvalsOf(id)).toEqual([])
    expect(await statusOf(id)).toBe('cancelled')
  })

  it('approves nothing if the skills have changed since the run was planned', async () => {
    const id = await runToGate()
    project.write('.skillrail/skills/deploy/scripts/run.sh', '#!/bin/sh\necho other\n', 0o755)
    const { code } = await refusalOf(decide('approve', id))
    expect(code).toBe('plan-changed')
    expect(await approvalsOf(id)).toEqual([])
  })

  it('opens a gate that asks for an attended approval', async () => {
    const id = await runToGate('gate=attended')
    expect((await viewOf().run(id)).gates).toMatchObject([{ strength: 'attended' }])
    await decide('approve', id)
    expect(await statusOf(id)).toBe('success')
  })

  it.each(['gate=signed', 'rail.approval'])(
    'does not open a gate that asks for a signature, and names the command: %s',
    async (by) => {
      const id = await runToGate(by === 'gate=signed' ? by : 'gate')
      const place = { ...project, env: { ...env, SKILLRAIL_RAIL_APPROVAL: 'signed' } }
      const surroundings = by === 'gate=signed' ? {} : { place }
      const { gates } = await viewOf(surroundings).run(id)
      const line = `skillrail runs approve ${id} --step deploy --sign`
      expect(gates).toMatchObject([{ strength: 'signed', approveWith: [{ line }] }])
      const { code, text } = await refusalOf(decide('approve', id, surroundings))
      expect({ code, text }).toMatchObject({ code: 'approval-too-weak' })
      expect(text).toContain(`skillrail runs approve ${id} --sign`)
      expect(await approvalsOf(id)).toEqual([])
      // A rejection needs no signature.
      await decide('reject', id, surroundings)
      expect(await statusOf(id)).toBe('failure')
    },
  )

  it.each<[what: string, code: string, says: string, around: Surroundings]>([
    [
      'a view that an agent client has started',
      'below-agent-client',
      'Claude Code',
      { starter: agent },
    ],
    [
      'a view whose starter cannot be read',
      'starter-unknown',
      'cannot be read',
      { starter: unknown },
    ],
    [
      'a browser that an agent client has started',
      'below-agent-client',
      'Claude Code',
      { browser: agent },
    ],
    ['a program that cannot be identified', 'browser-unknown', 'identified', { browser: unknown }],
    [
      'a browser that a program drives',
      'browser-driven',
      'a program drives it',
      { more: { driven: 'yes' } },
    ],
  ])('takes no decision from %s', async (_, code, says, around) => {
    const id = await runToGate()
    for (const decision of ['approve', 'reject'] as const) {
      const refusal = await refusalOf(decide(decision, id, around))
      expect(refusal.code).toBe(code)
      expect(refusal.text).toContain(says)
      expect(refusal.text).toContain(`skillrail runs approve ${id} --step deploy`)
    }
    expect(await approvalsOf(id)).toEqual([])
    expect(await statusOf(id)).toBe('waiting')
    // What is known before the click is said on the page.
    const { gates } = await viewOf(around).run(id)
    const [gate] = gates
    const isKnownBefore = around.starter !== undefined
    expect(gate?.refusal?.message.includes(says) ?? false).toBe(isKnownBefore)
  })

  it('takes no decision without a caller, and none that is neither', async () => {
    const id = await runToGate()
    const shown = await shownBy(id)
    const view = projectView(contextIn({ ...project, env }), { starter: person })
    const without = view.decide(questionFields({ ...shown, decision: 'approve' }))
    expect((await refusalOf(Promise.resolve(without))).code).toBe('browser-unknown')
    for (const decision of ['', 'yes', 'Approve']) {
      const { code } = await refusalOf(viewOf().decide({ ...shown, decision }))
      expect(code).toBe('question-malformed')
    }
    expect(await approvalsOf(id)).toEqual([])
  })

  it('leaves a run to a command if it was started with rights for its scripts', async () => {
    const place = { ...project, env: { ...env, SKILLRAIL_RUN_SANDBOX: 'all' } }
    const id = await runToGate('gate', ['--unsafe-no-sandbox'], place.env)
    const { gates } = await viewOf({ place }).run(id)
    expect(gates).toMatchObject([{ approveWith: [{ channel: 'terminal' }] }])
    const { code, text } = await refusalOf(decide('approve', id, { place }))
    expect(code).toBe('grants-needed')
    expect(text).toContain(`skillrail runs approve ${id}`)
    expect(await approvalsOf(id)).toEqual([])
  })

  it('leaves a run to a command if its arguments hold a secret', async () => {
    const id = await runToGate('gate', [
      '--',
      '--token',
      'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    ])
    const { text } = await refusalOf(decide('approve', id))
    expect(text).toContain(`skillrail runs approve ${id}`)
    expect(await approvalsOf(id)).toEqual([])
  })
})

describe('a rail that waits at a gate', () => {
  const chain = {
    ship: { metadata: ['chain: |', '  build', '  publish gate rework=build', '  tell'] },
    build: { body: 'BUILD IT.' },
    publish: { body: 'PUBLISH IT.' },
    tell: { body: 'TELL THEM.' },
  }

  async function railAtGate() {
    const session = makeSession(chain)
    await session.prompt('/ship')
    await session.cli('chain', 'report', session.runId(), '--step', 'build', '--status', 'success')
    await session.stop()
    return { session, place: { ...session, env: session.env } }
  }

  it('continues after an approval in the view, with the next event of its session', async () => {
    const { session, place } = await railAtGate()
    const id = session.runId()
    const { gates } = await viewOf({ place }).run(id)
    expect(gates).toMatchObject([
      {
        step: 'publish',
        approveWith: [
          { channel: 'session', client: 'claude', line: 'rail approve publish' },
          { channel: 'terminal', line: `skillrail runs approve ${id} --step publish` },
          { channel: 'view', line: `skillrail view ${id} --open` },
        ],
      },
    ])
    await decide('approve', id, { place })
    expect(session.approvals()).toMatchObject([{ channel: 'view', strength: 'attended' }])
    const next = await session.prompt('go on')
    expect(next?.hookSpecificOutput?.additionalContext).toContain('PUBLISH IT.')
  })

  it('goes back after a rejection in the view, and the agent gets the reason', async () => {
    const { session, place } = await railAtGate()
    await decide('reject', session.runId(), { place, more: { reason: 'no tests' } })
    const next = await session.prompt('go on')
    const context = next?.hookSpecificOutput?.additionalContext
    expect(context).toContain('BUILD IT.')
    expect(context).toContain('no tests')
  })
})
